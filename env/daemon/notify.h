/* What a service manager is told: systemd's notifications, a datagram each. Without $NOTIFY_SOCKET
 * nothing is sent. */
#pragma once

#include <stdint.h>

/* Sends lines such as "READY=1". What cannot be sent is lost: nobody here waits for it. */
void notify_send(const char *lines);
/* Half the time within which the manager wants to hear from us, in milliseconds; 0: never. */
uint64_t notify_watchdog_ms(void);
