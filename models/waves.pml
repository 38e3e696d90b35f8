/* Detection of the end of a run across processes (include/shoal/worklist/waves.hpp): two waves of counts, exchanged through boards
 * (include/shoal/world/boards.hpp).
 *
 * N processes, each with one worker, one host thread, and one carrier for each other process. Running an item may push more, until
 * BUDGET pushes are spent, and may park something until PARKS are spent; a parked item does not count until the next phase. A push
 * to the own ring is counted (created) and then made visible. A push to another process is counted and then gathered; later the
 * carrier takes the gathered items and makes them visible in the other process. An item counts as completed after its pushes are
 * counted. The host threads write one statement after another on their boards: a value, and then its number. A board has two
 * places, used in turn. The first statement of each host says how many items are completed. When all have made it, the next one
 * says how many are created, and how many are parked. If both sums are equal, the run is over, or else each process begins the next
 * phase by itself: it counts the items that it has parked as created, and then makes them visible.
 * Claim: the first host that finds equal sums finds them when no item is left anywhere (`left`, the truth), and the sum of parked
 * items that it has read includes all parked items. All hosts find the same. No host waits forever for a statement. -DLIVE: all
 * hosts detect the end, although they begin to ask only when their worker has nothing to do (weak fairness).
 *
 * -DBUG=1 one wave: completed and created are stated together    2 created is stated first
 *       3 gathered items are counted when the carrier takes them   4 an item that arrives is completed before it is run
 *       5 created is read before all have stated completed        6 a board has one place
 *       7 votes: over when every worker had nothing to do once    8 parked is read before completed
 *       9 a statement's number is written before its value        10 a process that has parked nothing ends
 */
#ifndef N
#define N 2
#endif
#ifndef BUDGET
#define BUDGET 2
#endif
#ifndef PARKS
#define PARKS 0
#endif
#ifndef BUG
#define BUG 0
#endif
#if BUG==6
#define PLACE(n) 0
#else
#define PLACE(n) ((n) % 2)
#endif

byte ring[N], gathered[N*N], inbox[N*N];        /* [from * N + to] */
byte created[N], completed[N], parked[N];
byte value[N*2], parks[N*2], number[N*2];       /* the boards; numbers cycle through 0 to 3, and are 4 before the first statement */
byte budget = BUDGET, may_park = PARKS, left = 1, found;
bool over[N];

#define NEXT ((me+1)%N)
#define LAST ((me+2)%N)
#if N==2
#define NOTHING (ring[me] == 0 && inbox[NEXT*N+me] == 0)
#else
#define NOTHING (ring[me] == 0 && inbox[NEXT*N+me] == 0 && inbox[LAST*N+me] == 0)
#endif

inline push_to(q) {
#if BUG!=3
  created[me]++;
#endif
  gathered[me*N+q]++
}

proctype Worker(byte me) {
  byte has;                                     /* the item at hand: 1 from the own ring, 2 from another process, 0 none */
  do
  :: over[me] -> break
  :: atomic { !over[me] && has == 0 && ring[me] > 0 -> ring[me]--; has = 1 }
  :: atomic { !over[me] && has == 0 && inbox[NEXT*N+me] > 0 -> inbox[NEXT*N+me]--; has = 2 }
#if N > 2
  :: atomic { !over[me] && has == 0 && inbox[LAST*N+me] > 0 -> inbox[LAST*N+me]--; has = 2 }
#endif
  :: has > 0 ->
#if BUG==4
     if :: has == 2 -> completed[me]++ :: else fi;
#endif
     do
     :: atomic { budget > 0 -> budget--; left++ };
        if
        :: created[me]++; ring[me]++
        :: push_to(NEXT)
#if N > 2
        :: push_to(LAST)
#endif
        fi
     :: atomic { may_park > 0 -> may_park--; parked[me]++ }
     :: break
     od;
     atomic {
       left--;
#if BUG==4
       if :: has == 2 :: else -> completed[me]++ fi;
#else
       completed[me]++;
#endif
       has = 0
     }
  od
}

proctype Carrier(byte me; byte to) {
  byte moving;
end:
  do
  :: atomic { gathered[me*N+to] > 0 && moving == 0 -> moving = gathered[me*N+to]; gathered[me*N+to] = 0;
#if BUG==3
       created[me] = created[me] + moving
#endif
     }
  :: atomic { moving > 0 -> inbox[me*N+to] = inbox[me*N+to] + moving; moving = 0 }
  od
}

inline say() {                                  /* writes `mine` and `mine_parks` as statement n */
#if BUG==9
  number[me*2+PLACE(n)] = n;
  atomic { value[me*2+PLACE(n)] = mine; parks[me*2+PLACE(n)] = mine_parks; mine = 0; mine_parks = 0 }
#else
  atomic { value[me*2+PLACE(n)] = mine; parks[me*2+PLACE(n)] = mine_parks; mine = 0; mine_parks = 0 };
  number[me*2+PLACE(n)] = n
#endif
}
inline hear() {                                 /* reads statement n of every process */
  do
  :: i < N ->
     number[i*2+PLACE(n)] == n;                 /* between these two steps a wrong writer may overwrite the place */
     atomic { sum = sum + value[i*2+PLACE(n)]; park = park + parks[i*2+PLACE(n)]; i++ }
  :: else -> break
  od;
  atomic { i = 0; n = (n + 1) % 4 }
}

proctype Host(byte me) {
  byte n, i, sum, park, first, mine, mine_parks, mine_found;
  do
#ifdef LIVE
  :: NOTHING ->
#else
  :: true ->
#endif
#if BUG==1
     atomic { mine = completed[me]; mine_parks = created[me] };
     say();
     hear();
     first = sum; sum = park; park = 0;
#elif BUG==7
     NOTHING;
     mine = 1;
     say();
     hear();
     first = N;
#else
#if BUG==8
     mine_parks = parked[me];
     atomic { mine = completed[me]; first = mine_parks; mine_parks = 0 };
#elif BUG==2
     mine = created[me];
#else
     mine = completed[me];
#endif
     say();
#if BUG==5
     mine = created[me]; mine_parks = parked[me];
#endif
     hear();
#if BUG==8
     atomic { mine_parks = first; first = sum; sum = 0; park = 0 };
     mine = created[me];
#elif BUG==2
     atomic { first = sum; sum = 0; park = 0 };
     mine = completed[me]; mine_parks = parked[me];
#elif BUG==5
     atomic { first = sum; sum = 0; park = 0 };
#else
     atomic { first = sum; sum = 0; park = 0 };
     mine = created[me]; mine_parks = parked[me];
#endif
     say();
     hear();
#endif
     if
     :: atomic { first == sum ->
          if
          :: mine_found == found ->             /* the first to find it */
             assert(left == 0);
#if BUG!=1 && BUG!=7
             assert(park == parked[0] + parked[1]
#if N > 2
                            + parked[2]
#endif
                    );
#endif
             found++
          :: else
          fi;
          mine_found++ };
#if BUG==10
        park = parked[me];
#endif
        if
        :: park == 0 -> over[me] = true; break
        :: park > 0 && parked[me] > 0 ->
           atomic { left = left + parked[me]; mine = parked[me]; parked[me] = 0 };
           created[me] = created[me] + mine; ring[me] = ring[me] + mine;
           mine = 0
        :: else
        fi
     :: else
     fi;
     atomic { first = 0; sum = 0; park = 0 }
  od
}

init {
  byte k, j;
  atomic {
    ring[0] = 1; created[0] = 1;                /* the run begins with one item */
    k = 0;
    do :: k < N*2 -> number[k] = 4; k++ :: else -> break od;
    k = 0;
    do
    :: k < N ->
       run Worker(k); run Host(k); j = 0;
       do
       :: j < N -> if :: j != k -> run Carrier(k, j) :: else fi; j++
       :: else -> break
       od;
       k++
    :: else -> break
    od;
    k = 0; j = 0
  }
}

#ifdef LIVE
#if N==2
ltl ends { <> (over[0] && over[1]) }
#else
ltl ends { <> (over[0] && over[1] && over[2]) }
#endif
#endif
