/* The public interface of Trainyard: one include for programs that use the library.
 *
 * - base.h: rulesets, states, steps, rows, masks, events
 * - agent.h: built-in agents, and how to add one
 * - net.h, collect.h: networks that play, and play for learners
 * - pool/pool.h: many episodes stepped together
 *
 * Authors of games include game.h besides (with kit/reader.h for boards and maps, core/text.h,
 * core/doc.h and core/status.h). Clients of the daemon include proto/client.h, which has
 * proto/client_shm.h for shared memory. */
#pragma once

#include "agent.h"
#include "base.h"
#include "collect.h"
#include "net.h"
#include "pool/pool.h"
