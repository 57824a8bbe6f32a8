/* Making the TyStatus that a function returns.
 *
 *     if (players > TY_PLAYERS_MAX) {
 *         return ty_status_fail(TY_BAD_CONFIG, "players=%u: out of range", players);
 *     }
 *     return ty_status_ok(); */
#pragma once

#include "base.h"

/* No failure. */
static inline TyStatus ty_status_ok(void)
{
    return (TyStatus){.code = TY_OK};
}

/* A failure with a message as printf writes it, cut to TY_MESSAGE_MAX. */
TY_API TyStatus ty_status_fail(TyCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
