/* The channel between two PEs (include/shoal/queue/channel.hpp): senders never read a slot, receivers claim items that have
 * arrived.
 *
 * NS senders send NB items each, up to MAXB at once; NR receivers claim up to FETCH at once. The value of ticket t is t+1.
 * A receiver finds out which tickets have arrived, claims them by one compare-and-swap, and copies them out. If it loses the race,
 * it claims what is left of the tickets that it saw. Tickets that were read are counted in shares of Q. Credits go back in the
 * order of the shares: the receiver that counts the last ticket of a share marks the share complete, and gives back all complete
 * shares from the oldest on.
 * Claims: every ticket is received once, with its own value; no live slot is overwritten; no process waits forever; in the end all
 * credits are back but those of a share that is not full.
 *
 * -DLIVE: everything is sent and received in the end (weak fairness), although credits that a sender takes in vain are hidden from
 * the others until it has put them back.
 *
 * -DWHOLE: value and signal are one word (small items on GPUs). A receiver copies them when it reads the signal, before the claim.
 *
 * -DBUG=1 the signal is written before the value      2 tickets count as read before the copy
 *       3 two receivers may claim the same ticket     4 a ticket is claimed before it has arrived
 *       5 any signal counts as ready                  6 credits taken beyond those that were there are not put back
 *       7 tickets are taken without credits           8 credits are never given back
 *       9 a share is larger than the channel
 *      10 a receiver gives back only the whole shares within one claim
 *      11 credits go back when claims pass a multiple of the share, even if others still read earlier tickets
 *      12 a receiver that loses the race claims all that it saw
 *      13 a share counts as complete when it is half read
 *      14 a share goes back when it is complete, whatever is before it: the slot of the oldest ticket is overwritten
 *      15 a complete share goes back if it is the oldest, but complete shares after it do not go back with it
 *      16 a sender takes credits without reading first whether there are any (-DLIVE)
 */
#ifndef NS
#define NS 2
#endif
#ifndef NB
#define NB 2
#endif
#ifndef NR
#define NR 2
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef MAXB
#define MAXB 2
#endif
#ifndef FETCH
#define FETCH 2
#endif
#ifndef Q
#define Q 1
#endif
#ifndef BUG
#define BUG 0
#endif
#if BUG==9
#define SHARE (2*CAP)
#else
#define SHARE Q
#endif
#define TOT (NS*NB)
#define SL(t) ((t) % CAP)
#if BUG==5
#define READY(t) (signal_[SL(t)] != 0)
#else
#define READY(t) (signal_[SL(t)] == (t) + 1)
#endif

#define SHARES ((CAP + SHARE - 1) / SHARE)
#define REGION(t) (((t) / SHARE) % SHARES)

byte value[CAP], signal_[CAP], read_[SHARES];
bool complete[SHARES];
byte tail, drain, oldest, received, left_;
short credits = CAP;
bool got[TOT+CAP];

proctype Sender() {
  byte todo = NB, k, t, j;
  short had, short_;
  do
  :: todo == 0 -> break
  :: todo > 0 ->
     if :: k = 1
#if MAXB > 1
        :: todo > 1 -> k = 2
#endif
     fi;
#if BUG!=7
     do
#if BUG==16
     :: atomic { had = credits; credits = credits - k };
#else
     :: credits > 0 -> atomic { had = credits; credits = credits - k };
#endif
        if
        :: had < k ->
           short_ = (had > 0 -> k - had : k);
#if BUG!=6
           credits = credits + short_;
#endif
           k = k - short_;
           if :: k > 0 -> break :: else -> k = 1 fi
        :: else -> break
        fi
     od;
#endif
     atomic { t = tail; tail = tail + k };
     do
     :: j < k ->
#if BUG==1
        signal_[SL(t+j)] = t + j + 1;
        value[SL(t+j)] = t + j + 1;
#elif defined(WHOLE)
        atomic { value[SL(t+j)] = t + j + 1; signal_[SL(t+j)] = t + j + 1 };
#else
        value[SL(t+j)] = t + j + 1;
        signal_[SL(t+j)] = t + j + 1;
#endif
        j++
     :: else -> break
     od;
     atomic { todo = todo - k; k = 0; t = 0; j = 0; had = 0; short_ = 0 }
  od;
  left_++
}

proctype Receiver() {
  byte h, n, m, i, before, back, copy[FETCH];
  do
  :: drain >= TOT -> break
#if BUG==4
  :: drain < TOT -> h = drain; n = 1;
#else
  :: drain < TOT && READY(drain) ->
     h = drain;
     do
#ifdef WHOLE
     :: atomic { n < FETCH && READY(h+n) -> copy[n] = value[SL(h+n)] }; n++
#else
     :: n < FETCH && READY(h+n) -> n++
#endif
     :: else -> break
     od;
#endif
#if BUG==3
     if :: drain == h -> drain = h + n :: else -> n = 0 fi;
#elif BUG==12
     atomic { if :: drain == h -> drain = h + n :: drain > h && drain < h + n -> drain = h + n :: else -> n = 0 fi };
#else
     atomic {                                      /* compare-and-swap, repeated from the new drain while some tickets are left */
       if
       :: drain == h -> drain = h + n
       :: drain > h && drain < h + n ->
          n = h + n - drain; i = 0;
#ifdef WHOLE
          do :: i < n -> copy[i] = copy[i + drain - h]; i++ :: else -> break od;
#endif
          h = drain; drain = h + n
       :: else -> n = 0
       fi
     };
#endif
#if BUG!=2 && !defined(WHOLE)
     i = 0; do :: i < n -> copy[i] = value[SL(h+i)]; i++ :: else -> break od;
#endif
#if BUG==10
     if :: n >= Q -> credits = credits + (n / Q) * Q :: else fi;
#elif BUG==11
     if :: (h + n) / SHARE > h / SHARE -> credits = credits + ((h + n) / SHARE - h / SHARE) * SHARE :: else fi;
#else
     i = 0;
     do                                            /* share by share */
     :: i < n ->
        m = SHARE - (h + i) % SHARE;
        if :: m > n - i -> m = n - i :: else fi;
        atomic { before = read_[REGION(h+i)]; read_[REGION(h+i)] = before + m };
        if
#if BUG==13
        :: before % SHARE < (SHARE + 1) / 2 && before % SHARE + m >= (SHARE + 1) / 2 ->
#elif BUG==8
        :: false ->
#else
        :: before / SHARE != (before + m) / SHARE ->
#endif
#if BUG==14
           credits = credits + SHARE
#else
           back = 0;
           atomic {                                /* one 64-bit word holds the oldest share and the set of complete ones */
             complete[REGION(h+i)] = true;
             do
             :: complete[oldest] -> complete[oldest] = false; oldest = (oldest + 1) % SHARES; back++;
#if BUG==15
                break
#endif
             :: else -> break
             od
           };
           credits = credits + back * SHARE; back = 0
#endif
        :: else
        fi;
        i = i + m
     :: else -> break
     od;
#endif
#if BUG==2
     i = 0; do :: i < n -> copy[i] = value[SL(h+i)]; i++ :: else -> break od;
#endif
     atomic {
       i = 0;
       do :: i < n -> assert(copy[i] == h + i + 1 && !got[h+i]); got[h+i] = true; received++; i++ :: else -> break od;
       i = 0; do :: i < FETCH -> copy[i] = 0; i++ :: else -> break od;
       h = 0; n = 0; i = 0; m = 0; before = 0
     }
  od;
  left_++
}

init {
  byte k;
  atomic {
    k = 0; do :: k < NS -> run Sender(); k++ :: else -> break od;
    k = 0; do :: k < NR -> run Receiver(); k++ :: else -> break od; k = 0
  };
  (left_ == NS + NR);
  assert(received == TOT && tail == TOT && drain == TOT);
#if BUG!=7
  assert(credits == CAP - TOT % Q)                   /* with BUG 7 no credits are taken */
#endif
}

#ifdef LIVE
ltl ends { <> (left_ == NS + NR) }
#endif
