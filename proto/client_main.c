/* The command line of a program that is an agent. */
#include "core/status.h"
#include "proto/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TyStatus ty_client_seats(const char *text, uint8_t seats[TY_SEATS_MAX], uint32_t *count)
{
    *count = 0;
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        if (*at < '0' || *at >= '0' + TY_SEATS_MAX || *count == TY_SEATS_MAX ||
            (at[1] != '\0' && at[1] != ',')) {
            return ty_status_fail(TY_BAD_ARGUMENT,
                                  "--seats: '%.40s' is not a list of seats such as 0,2", text);
        }
        seats[(*count)++] = (uint8_t)(*at - '0');
        at += at[1] == ',';
    }
    return ty_status_ok();
}

/* What the command line says. */
typedef struct Invitation {
    const char *connect;
    const char *pool;
    const char *invite;
    const char *seats;
} Invitation;

static TyStatus invitation_parse(int argc, char **argv, Invitation *invitation)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"--connect", &invitation->connect},
                   {"--pool", &invitation->pool},
                   {"--invite", &invitation->invite},
                   {"--seats", &invitation->seats}};
    enum { COUNT = sizeof options / sizeof options[0] };
    for (int i = 1; i < argc; i += 2) {
        uint32_t option = 0;
        while (option < COUNT && strcmp(argv[i], options[option].name) != 0) {
            option++;
        }
        if (option == COUNT) {
            return ty_status_fail(
                TY_BAD_ARGUMENT,
                "unknown argument '%.40s'; allowed are --connect ENDPOINT, --pool "
                "NUMBER, --invite TOKEN, --seats 0,2",
                argv[i]);
        }
        if (i + 1 == argc) {
            return ty_status_fail(TY_BAD_ARGUMENT, "%s needs a value", argv[i]);
        }
        *options[option].value = argv[i + 1];
    }
    return ty_status_ok();
}

static TyStatus invitation_accept(const Invitation *invitation, const TyAgent *agent)
{
    const TyClientConfig where = {.endpoint = invitation->connect, .name = agent->name};
    TyClientPlay play = {.agent = agent};
    TyClient *client = NULL;
    TyClientPool pool;
    uint8_t seats[TY_SEATS_MAX];
    uint32_t count;
    char *end;
    if (invitation->pool == NULL || invitation->invite == NULL) {
        return ty_status_fail(TY_BAD_ARGUMENT, "--pool and --invite are needed");
    }
    unsigned long number = strtoul(invitation->pool, &end, 10);
    if (number == 0 || number > UINT32_MAX || *end != '\0') {
        return ty_status_fail(TY_BAD_ARGUMENT, "--pool: '%.40s' is not the number of a pool",
                              invitation->pool);
    }
    TyStatus status = ty_client_seats(invitation->seats, seats, &count);
    if (status.code == TY_OK) {
        status = ty_client_connect(&where, &client);
    }
    if (status.code == TY_OK) {
        const TyClientJoin join = {.pool = (uint32_t)number,
                                   .invite = invitation->invite,
                                   .seats = seats,
                                   .seat_count = count};
        status = ty_client_join(client, &join, &pool);
    }
    if (status.code == TY_OK) {
        status = ty_client_play(client, &pool, &play);
    }
    ty_client_close(client);
    return status;
}

int ty_client_main(int argc, char **argv, const TyAgent *agent)
{
    Invitation invitation = {0};
    TyStatus status = invitation_parse(argc, argv, &invitation);
    if (status.code == TY_OK) {
        status = invitation_accept(&invitation, agent);
    }
    if (status.code != TY_OK) {
        fprintf(stderr, "%s: %s\n", agent->name, status.message);
        return 1;
    }
    return 0;
}
