/* Segments that are carried between two processes (include/shoal/worklist/wires.hpp).
 *
 * A sender stores NB items into S segments of C items in its own memory, and publishes after each item how much may be read
 * (segments.pml models how several workers do that). Its carrier puts the items that are published and not yet carried, then issues
 * a fence, and then puts the word `written`. Puts between two fences arrive in any order. A receiver claims what has arrived,
 * copies it, and gives segments back. After a fence, its carrier puts how many segments were given back in order; the sender's
 * carrier turns that number into credits.
 * Claims: every item is received once, with its own value; no live item is overwritten, neither at the sender nor at the receiver;
 * no process waits forever; in the end all segments that were filled are back.
 *
 * -DBUG=1 no fence between items and word               2 no fence before the word that returns segments
 *       3 given back when claimed, not when read        4 the carrier notes what is written after the put as carried
 *       5 published before the item is stored           6 a segment counts as returned as soon as it was carried
 *       7 two carriers work at the same time            8 the carrier takes reserved items for published ones
 */
#ifndef NB
#define NB 4
#endif
#ifndef C
#define C 1
#endif
#ifndef S
#define S 2
#endif
#ifndef BUG
#define BUG 0
#endif
#define CAP (S*C)
#define LEAST(a, b) ((a) < (b) -> (a) : (b))
#define MOST(a, b) ((a) > (b) -> (a) : (b))
#define FLIGHT 6

byte value[CAP], written[S], tail, home;          /* the sender's */
byte sent[S], known;                              /* the sender's carrier's */
byte given;                                       /* in the sender's memory; the receiver's carrier puts it */
byte there[CAP], arrived[S], claimed[S], read_[S], back, told_back;  /* the receiver's */
byte received;
bool busy, done;
/* Puts on their way to the receiver: items (kind 0) and words (kind 1), each with the number of fences before it. */
chan way = [FLIGHT] of { byte, bit, byte, byte };
chan home_way = [2] of { byte, byte };
byte fences, home_fences;
byte before[16], home_before[16];                 /* how many puts are on their way, by the number of fences before them */

proctype Sender() {
  byte t;
  do
  :: t == NB -> break
  :: t < NB ->
     tail < CAP + home * C;                       /* waits for a credit */
     atomic { t = tail; tail++ };
#if BUG==5
     written[(t / C) % S] = (t / CAP) * C + t % C + 1;
     value[t % CAP] = t + 1;
#else
     value[t % CAP] = t + 1;
     written[(t / C) % S] = (t / CAP) * C + t % C + 1;
#endif
     t = t + 1
  od
}

inline put(k, a, v) { atomic { way!fences,k,a,v; before[fences]++ } }

proctype Carrier() {
  byte s, w, f;
end:
  do
  :: given > known -> atomic { known = given; home = MOST(home, known) }
#if BUG==7
  :: written[s] > sent[s] ->
#else
  :: atomic { !busy && written[s] > sent[s] -> busy = true };
#endif
#if BUG==8
     w = LEAST((tail - 1) / CAP * C + (tail - 1) % C + 1, C * (sent[s] / C + 1));
     if :: (tail - 1) / C % S != s -> w = written[s] :: else fi;
#else
     w = written[s];
#endif
     f = sent[s];
     do
     :: f < w -> put(0, s * C + f % C, value[s * C + f % C]); f++
     :: else -> break
     od;
#if BUG!=1
     fences++;
#endif
     put(1, s, w);
#if BUG==4
     sent[s] = written[s];
#else
     sent[s] = w;
#endif
#if BUG==6
     if :: w % C == 0 -> home = MOST(home, w / C) :: else fi;
#endif
     atomic { busy = false; w = 0; f = 0 }
  :: written[s] <= sent[s] && written[(s + 1) % S] > sent[(s + 1) % S] -> s = (s + 1) % S
  od
}

/* Delivers any put that no fence holds back. */
proctype Way() {
  byte e, a, v;
  bit k;
end:
  do
  :: atomic { way?e,k,a,v;
       if
       :: (e == 0 || before[e - 1] == 0) && (e < 2 || before[e - 2] == 0) && (e < 3 || before[e - 3] == 0) ->
          before[e]--;
          if :: k == 0 -> there[a] = v :: k == 1 -> arrived[a] = v fi
       :: way!e,k,a,v                             /* another put arrives first */
       fi;
       e = 0; k = 0; a = 0; v = 0 }
  od
}
proctype HomeWay() {
  byte e, v;
end:
  do
  :: atomic { home_way?e,v;
       if
       :: e == 0 || home_before[e - 1] == 0 -> home_before[e]--; given = v
       :: home_way!e,v
       fi;
       e = 0; v = 0 }
  od
}

proctype Receiver() {
  byte s, c, v;
  do
  :: received == NB -> break
  :: claimed[s] < arrived[s] ->
     c = claimed[s];
     claimed[s] = c + 1;
#if BUG==3
     if :: (c + 1) % C == 0 && back == (c / C) * S + s -> back++ :: else fi;
#endif
     v = there[s * C + c % C];
     assert(v == (c / C) * CAP + s * C + c % C + 1);
     read_[s]++;
     received++;
#if BUG!=3
     do :: read_[back % S] >= (back / S + 1) * C -> back++ :: else -> break od;
#endif
     c = 0; v = 0
  :: claimed[s] >= arrived[s] && claimed[(s + 1) % S] < arrived[(s + 1) % S] -> s = (s + 1) % S
  od;
  done = true
}
proctype Returner() {
  do
  :: back > told_back ->
#if BUG!=2
     home_fences++;
#endif
     atomic { told_back = back; home_way!home_fences,told_back; home_before[home_fences]++ }
  :: done && told_back == back -> break
  od
}

init {
  atomic {
#if BUG==7
    run Carrier();
#endif
    run Sender(); run Carrier(); run Way(); run HomeWay(); run Receiver(); run Returner()
  };
  (done && told_back == back && nfull(home_way) && empty(home_way));
  assert(given == NB / C)
}
