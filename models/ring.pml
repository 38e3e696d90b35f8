/* The ring (include/shoal/queue/slot_ring.hpp) with separate pushers and poppers. In hold.pml each worker is both.
 *
 * NP pushers push NB items each, up to MAXB at once, limited by the credits that they get. An item that gets no credit is tried
 * again (this stands for the pusher's spill). NC poppers claim up to FETCH tickets at once (default), or hold one ticket each
 * (-DHOLD). The value of ticket t is t+1. Claims: every ticket is popped once, with its own value, neither before it is written nor
 * when it is stale; no process waits forever (that would be an invalid end state); in the end all slots are empty and all credits
 * are back.
 *
 * -DBUG=1 the sequence number is published before the value   2 a pusher does not wait for its slot
 *       3 the slot is marked empty before it is copied    4 poppers claim by reading head, then storing it
 *       5 credits taken beyond those that were there are not given back
 *       6 pushers take tickets by reading tail, then storing it
 *       7 pushers take tickets without credits and without waiting for the slot
 */
#ifndef NP
#define NP 2
#endif
#ifndef NB
#define NB 2
#endif
#ifndef NC
#define NC 2
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef MAXB
#define MAXB 1
#endif
#ifndef FETCH
#define FETCH 1
#endif
#ifndef BUG
#define BUG 0
#endif
#define TOT (NP*NB)

byte slot[CAP], seq_[CAP];
byte tail, head, took, left_;
short credits = CAP;
bool got[TOT+1];

inline pop_one(t) {
  (seq_[(t) % CAP] == (t) + 1);
#if BUG==3
  seq_[(t) % CAP] = (t) + CAP;
  v = slot[(t) % CAP];
#else
  v = slot[(t) % CAP];
  seq_[(t) % CAP] = (t) + CAP;
#endif
  atomic { assert(v == (t) + 1 && !got[(t)]); got[(t)] = true; took++; v = 0 }
}

proctype Pusher() {
  byte todo = NB, k, t, j;
  short had;
  do
  :: todo == 0 -> break
  :: todo > 0 ->
     if :: k = 1
#if MAXB > 1
        :: todo > 1 -> k = 2
#endif
     fi;
#if BUG!=7
     atomic { credits > 0 -> had = credits; credits = credits - k };  /* if had <= 0, the shipped pusher tries again later */
     if
     :: had < k ->
#if BUG!=5
        credits = credits + (k - had);
#endif
        k = had
     :: else
     fi;
#endif
#if BUG==6
     t = tail; tail = t + k;
#else
     atomic { t = tail; tail = tail + k };
#endif
     j = 0;
     do
     :: j < k ->
#if BUG!=2 && BUG!=7
        (seq_[(t+j) % CAP] == t + j);
#endif
#if BUG==1
        seq_[(t+j) % CAP] = t + j + 1;
        slot[(t+j) % CAP] = t + j + 1;
#else
        slot[(t+j) % CAP] = t + j + 1;
        seq_[(t+j) % CAP] = t + j + 1;
#endif
        j++
     :: else -> break
     od;
     atomic { todo = todo - k; t = 0; j = 0; k = 0; had = 0 }
  od;
  left_++
}

#ifdef HOLD
proctype Popper() {
  byte h, v;
  do
  :: atomic { head < TOT -> h = head; head++ };      /* unconditional: the ticket may not have been issued yet */
     pop_one(h);
     credits++;
     h = 0
  :: head >= TOT -> break
  od;
  left_++
}
#else
proctype Popper() {
  byte h, n, i, v;
  do
  :: took >= TOT || head >= TOT -> break
  :: tail > head ->
     h = head;
     n = tail - h;                                    /* tail is read after head, and may have moved since; that is harmless */
     if :: n > FETCH -> n = FETCH :: else fi;
     if
#if BUG==4
     :: n > 0 -> head = h + n;
#else
     :: atomic { n > 0 && head == h -> head = h + n };
#endif
        i = 0;
        do :: i < n -> pop_one(h + i); i++ :: else -> break od;
        credits = credits + n
     :: n == 0 || head != h
     fi;
     atomic { h = 0; n = 0; i = 0 }
  od;
  left_++
}
#endif

proctype Monitor() {
  byte k;
  (left_ == NP + NC);
  assert(took == TOT && tail == TOT && head == TOT);
#if BUG!=7
  assert(credits == CAP);                            /* with BUG 7 no credits are taken */
#endif
  do :: k < CAP -> assert(seq_[k] >= TOT && seq_[k] < TOT + CAP); k++ :: else -> break od
}

init {
  byte k;
  atomic {
    do :: k < CAP -> seq_[k] = k; k++ :: else -> break od;
    k = 0; do :: k < NP -> run Pusher(); k++ :: else -> break od;
    k = 0; do :: k < NC -> run Popper(); k++ :: else -> break od;
    run Monitor(); k = 0
  }
}
