/* Full chunks of parked items (SlotRing::put_for_all, take_below in include/shoal/queue/slot_ring.hpp): P poppers, each of which wants
 * whatever is below LIMIT, and a pusher that has reserved LIMIT tickets and makes them free to take one by one (`credits`). A popper
 * subtracts one from `credits`; if there was one, it is entitled to the ticket at `head`; if not, it adds one back and tries again,
 * until `head` has reached LIMIT. From its second try on, it subtracts only after it has read a number above 0.
 * Claim: `head` never passes the number of values that were pushed. -DLIVE: all poppers leave in the end (weak fairness).
 * Left out: the slots (ring.pml).
 *
 * -DBUG=1 a popper subtracts again without reading first: two that take turns keep `credits` at 0 or below for ever
 */
#ifndef P
#define P 2
#endif
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef BUG
#define BUG 0
#endif

short credits;
byte head, pushed, gone;

proctype Popper() {
  short had;
  bool tried;
  do
  :: head >= LIMIT -> gone++; break
  :: else ->
     if
     :: BUG == 0 && tried ->
        if
        :: credits <= 0 -> goto again
        :: else
        fi
     :: else
     fi;
     tried = true;
     atomic { had = credits; credits--; }
     if
     :: had > 0 -> atomic { head++; assert(head <= pushed) }; gone++; break
     :: else -> credits++
     fi;
again: skip
  od
}

active proctype Pusher() {
  do
  :: pushed < LIMIT -> pushed++; credits++
  :: else -> break
  od
}

init {
  byte i;
  atomic { do :: i < P -> run Popper(); i++ :: else -> break od; i = 0 }
}

#ifdef LIVE
ltl ends { <> (gone == P) }
#endif
