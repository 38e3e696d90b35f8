/* The channel between two PEs (include/shoal/queue/channel.hpp): senders never look at the slot, receivers claim what has arrived.
 *
 * NS senders send NB items each, up to MAXB at once; NR receivers claim up to FETCH at once. The value of ticket t is t+1.
 * A receiver looks which tickets have arrived, claims them by one compare-and-swap, and copies them out; who loses the race claims
 * what is left of what it saw. Tickets read are counted by shares of Q. Credits go back in the order of the shares: who counts the
 * last ticket of a share notes it, and gives back what is complete from the oldest on.
 * Claims: every ticket is received once, with its own value; no live slot is overwritten; nobody waits for ever; in the end all
 * credits but those of the share that is not full are home.
 *
 * -DLIVE: everything is sent and received in the end (weak fairness), though credits that one takes in vain are hidden from the
 * others until it has put them back.
 *
 * -DWHOLE: value and signal are one word (small items on GPUs), and are copied when they are looked at, before the claim.
 *
 * -DBUG=1 the signal before the value       2 counted as read before the copy  3 two may claim the same
 *       4 claimed before it has arrived     5 any signal counts as ready       6 a shortage of credits is kept
 *       7 tickets without credits           8 credits never go back            9 a share is more than the channel
 *      10 only whole shares of one claim are given back
 *      11 credits go back when claims pass a multiple of the share, whoever still reads before them
 *      12 who loses the race claims all that it saw
 *      13 a share counts as complete when it is half read
 *      14 a share goes back when it is complete, whatever is before it: the slot of the oldest ticket is overwritten
 *      15 a share goes back if it is the oldest, and nobody looks at those that waited for it
 *      16 who wants credits does not look whether there are any (-DLIVE)
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
     atomic {                                      /* compare-and-swap, again from where the drain is while some are left */
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
     do                                            /* the tickets of one share after those of another */
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
           atomic {                                /* one word: which is the oldest, and which are complete */
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
  assert(credits == CAP - TOT % Q)                   /* with 7 nobody took credits */
#endif
}

#ifdef LIVE
ltl ends { <> (left_ == NS + NR) }
#endif
