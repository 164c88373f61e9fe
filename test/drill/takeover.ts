import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from 'svc/sdk';

import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { counted } from '../counted.ts';
import { Ledger, writing } from './ledger.ts';
import { Pages } from './takeover-pages.ts';
import { type Owned, TakeoverStand } from './takeover-stand.ts';

const rulesMs = 15_000;
const agentsMs = 20_000;
const roundMs = 120_000;
const settleMs = 120_000;
const fullMs = 15_000;

interface Fault {
  /** True if another node must take over. */
  readonly takesOver: boolean;
  /** Does the harm; returns its end. */
  readonly harm: (stand: TakeoverStand, owned: Owned) => Promise<() => Promise<void>>;
}

const nothing = async (): Promise<void> => undefined;
const lineOf = (stand: TakeoverStand, { owner }: Owned) => stand.lines[stand.nodes.indexOf(owner)]!;

const faultsFor = (stillMs: number): Readonly<Record<string, Fault>> => ({
  'kill -9 of the owner': {
    takesOver: true,
    harm: async (_stand, { owner }) => {
      owner.send('SIGKILL');
      return nothing;
    },
  },
  'the owner stands still': {
    takesOver: true,
    harm: async (_stand, { owner }) => {
      owner.send('SIGSTOP');
      const since = performance.now();
      return async () => {
        await pause(Math.max(0, stillMs - (performance.now() - since)));
        owner.send('SIGCONT');
      };
    },
  },
  'the owner is cut off from Postgres': {
    takesOver: true,
    harm: async (stand, owned) => {
      lineOf(stand, owned).cut();
      return async () => lineOf(stand, owned).mend();
    },
  },
  'the owner is stopped': {
    takesOver: true,
    harm: async (_stand, { owner }) => {
      owner.send('SIGTERM');
      return nothing;
    },
  },
  'the disk of the owner is full': {
    takesOver: false,
    harm: async (stand, { owner }) => {
      const free = stand.hasDisks ? stand.fill(owner) : () => undefined;
      return async () => {
        await pause(fullMs);
        free();
      };
    },
  },
  'kill -9 of the other': {
    takesOver: false,
    harm: async (_stand, { other }) => {
      other.send('SIGKILL');
      return nothing;
    },
  },
  'Postgres restarts': {
    takesOver: false,
    harm: async (stand) => {
      await stand.restartPostgres();
      return nothing;
    },
  },
});

/**
 * Two nodes over one Postgres under one fault after the other, while agents push, rules fire, people
 * chat and alerts arrive. Measures how long it takes until the other node evaluates rules and has
 * all agents; counts acknowledged writes and pages that are lost, and pages that come twice.
 * `still`: seconds for which an owner stands still. `only`: faults whose name contains it.
 */
export async function run({
  rounds = 40,
  agents = 300,
  still = 60,
  only = '',
}: {
  readonly rounds?: number;
  readonly agents?: number;
  readonly still?: number;
  readonly only?: string;
} = {}): Promise<Outcome> {
  const faults = Object.entries(faultsFor(Number(still) * 1_000)).filter(([name]) =>
    name.includes(String(only)),
  );
  const stand = await TakeoverStand.open(Number(agents));
  let pages: Pages | undefined;
  try {
    const ledger = new Ledger(stand.ask, []);
    await ledger.furnish();
    pages = await Pages.open(stand.ask);
    const writes = writing(ledger, 200);
    const cases: Row[] = [];
    for (const round of counted(rounds, 'rounds')) {
      const [name, fault] = faults[round % faults.length]!;
      const row = { round: round + 1, fault: name, ...(await play(stand, fault, Number(agents))) };
      cases.push(row);
      ledger.signOut();
      say(JSON.stringify(row));
    }
    await writes.end();
    await pages.settle(settleMs);
    const lost = await ledger.lost();
    const refusals = stand.nodes.map(({ log }) => log.split('may not write any more').length - 1);
    return {
      ok: lost.length === 0 && pages.lost.length === 0 && cases.every(({ ok }) => ok === true),
      agents,
      'writes acknowledged': Object.values(ledger.acknowledged).reduce((sum, one) => sum + one, 0),
      'writes refused': ledger.refused,
      'writes lost': lost.length,
      what: lost.slice(0, 5).join('; '),
      'alerts acknowledged': pages.acknowledged,
      'pages lost': pages.lost.length,
      'pages doubled': pages.doubled,
      'pages that name not all': pages.unnamed,
      'late writes refused': refusals.reduce((sum, one) => sum + one, 0),
      'processes that ended by themselves': stand.nodes.reduce((sum, { exits }) => sum + exits, 0),
      cases,
    };
  } finally {
    pages?.close();
    await stand.close();
  }
}

async function play(stand: TakeoverStand, fault: Fault, agents: number): Promise<Row> {
  const seconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10;
  const times: Record<string, number> = {};
  let end = nothing;
  try {
    let before: Owned | undefined;
    await stand.until(
      'somebody owns the data',
      async () => (before = await stand.owned()) !== undefined,
    );
    const { epoch } = before!;
    const { connects } = stand.fleet.told;
    const began = performance.now();
    end = await fault.harm(stand, before!);
    let now = before!;
    if (fault.takesOver) {
      await stand.until(
        'another node owns the data',
        async () => {
          now = (await stand.owned()) ?? now;
          return now.epoch > epoch;
        },
        roundMs,
      );
      times['owned, s'] = seconds(began);
    }
    await stand.until('the owner serves', () => stand.serves(now.owner), roundMs);
    times['serves, s'] = seconds(began);
    const evaluated = fault.takesOver ? 0 : ((await stand.evaluations(now.owner)) ?? 0);
    await stand.until(
      'rules are evaluated',
      async () => ((await stand.evaluations(now.owner)) ?? 0) > evaluated,
      roundMs,
    );
    times['rules, s'] = seconds(began);
    await stand.until(
      'the agents are back',
      () => {
        const told = stand.fleet.told;
        const all = fault.takesOver ? told.connects >= connects + agents : true;
        return all && told.connected === agents;
      },
      roundMs,
    );
    times['agents, s'] = seconds(began);
    await end();
    end = nothing;
    await pause(5_000);
    await stand.until('the other node stands by again', () => isThere(now.other.url), roundMs);
    const ok =
      !fault.takesOver ||
      (times['rules, s'] * 1_000 <= rulesMs && times['agents, s'] * 1_000 <= agentsMs);
    return { ok, ...times };
  } catch (error) {
    await end();
    return { ok: false, ...times, why: `${messageOf(error)}; ${stand.fleetSays}` };
  }
}

/** True if a node answers, whatever it says. */
const isThere = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) }).then(
    () => true,
    () => false,
  );
