import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { findPeer } from '../peers.ts';
import { GroundStand } from './ground-stand.ts';
import { Ledger, ledgerEnvironment, ledgerPassword, writing } from './ledger.ts';

/** Something under svc that goes bad and good again. */
interface Ground {
  readonly name: string;
  /** While it serves, before it starts, or on an empty data folder. */
  readonly when: 'serving' | 'start' | 'first start';
  readonly spoil: (stand: GroundStand) => unknown;
  readonly mend: (stand: GroundStand) => unknown;
}

const free = (stand: GroundStand): void => stand.free();
const whole = (stand: GroundStand): void => stand.fault();

export const grounds: readonly Ground[] = [
  { name: 'full, start', when: 'start', spoil: (stand) => stand.fill(), mend: free },
  {
    name: 'full, first start',
    when: 'first start',
    spoil: (stand) => oncePluginsStart(stand, () => stand.fill()),
    mend: free,
  },
  { name: 'full', when: 'serving', spoil: (stand) => stand.fill(), mend: free },
  {
    name: 'read-only, start',
    when: 'start',
    spoil: (stand) => stand.mount('ro'),
    mend: (stand) => stand.mount('rw'),
  },
  {
    name: 'read-only',
    when: 'serving',
    spoil: (stand) => stand.fault({ write: 'EROFS', make: 'EROFS' }),
    mend: whole,
  },
  {
    name: 'EIO on write',
    when: 'serving',
    spoil: (stand) => stand.fault({ write: 'EIO' }),
    mend: whole,
  },
  {
    name: 'EIO on read',
    when: 'serving',
    spoil: (stand) => stand.fault({ read: 'EIO' }),
    mend: whole,
  },
  {
    name: 'EIO on fsync',
    when: 'serving',
    spoil: (stand) => stand.fault({ sync: 'EIO' }),
    mend: whole,
  },
  {
    name: 'slow',
    when: 'serving',
    spoil: (stand) => stand.fault({ delayMs: 300 }),
    mend: whole,
  },
  {
    name: 'EMFILE',
    when: 'serving',
    spoil: (stand) => stand.limitFiles(true),
    mend: (stand) => stand.limitFiles(false),
  },
  {
    name: 'EACCES, start',
    when: 'start',
    spoil: (stand) => oncePluginsStart(stand, () => stand.fault({ make: 'EACCES' })),
    mend: whole,
  },
  {
    name: 'quota',
    when: 'serving',
    spoil: (stand) => stand.fault({ write: 'EDQUOT', make: 'EDQUOT' }),
    mend: whole,
  },
  {
    name: 'folders gone',
    when: 'serving',
    spoil: ({ data }) => renameSync(join(data, 'plugins'), join(data, 'away')),
    mend({ data }) {
      rmSync(join(data, 'plugins'), { recursive: true, force: true });
      renameSync(join(data, 'away'), join(data, 'plugins'));
    },
  },
];

/** Plugins on ever worse ground: what of each serves again without a restart, and after how many seconds. */
export async function run({
  only = '',
  hold = 20,
}: { readonly only?: string; readonly hold?: number } = {}): Promise<Outcome> {
  if (process.getuid?.() !== 0 || findPeer('g++') === undefined) {
    return { ok: true, skipped: 'mounting a small disk takes root, and its shim takes a compiler' };
  }
  const drill = await GroundDrill.begin();
  try {
    const chosen = grounds.filter(({ name }) =>
      String(only)
        .split('+')
        .some((part) => name.includes(part)),
    );
    const found: Found[] = [];
    for (const ground of chosen) {
      const one = await drill.stand(ground, Number(hold));
      say(JSON.stringify({ ...one, back: undefined }));
      found.push(one);
    }
    return {
      ok: found.every(({ ok }) => ok),
      grounds: found.map(({ back: _, ...row }) => row),
      plugins: table(found),
    };
  } finally {
    await drill.end();
  }
}

interface Found {
  readonly ground: string;
  readonly ok: boolean;
  readonly starts: string;
  /** Plugins that were out while the ground was bad. */
  readonly out: string;
  readonly readyz: string;
  readonly 'all back, s': number | 'never';
  readonly lost: number;
  readonly what: string;
  /** Seconds until each plugin served again; infinite: it never did. */
  readonly back: ReadonlyMap<string, number>;
}

const table = (found: readonly Found[]): Row[] =>
  [...new Set(found.flatMap(({ back }) => [...back.keys()]))].sort().map((plugin) => ({
    plugin,
    ...Object.fromEntries(
      found.map(({ ground, back }) => [ground, secondsOf(back.get(plugin) ?? 0)]),
    ),
  }));

const secondsOf = (seconds: number): number | 'never' =>
  Number.isFinite(seconds) ? seconds : 'never';

const backMs = 120_000;

/** Waits until the first plugin is raised, then spoils the ground below the others. */
async function oncePluginsStart(stand: GroundStand, spoil: () => void): Promise<void> {
  await stand.launch();
  while (stand.isAlive && !existsSync(join(stand.data, 'plugins.activating'))) {
    await pause(2);
  }
  spoil();
}

class GroundDrill {
  readonly #stand: GroundStand;
  readonly #model: FakeModel;
  readonly #folder: string;
  #ledger: Ledger;
  /** The last write that was refused. */
  #refusal = '';
  /** A route of each plugin that reads, and answers on good ground. */
  readonly #routes = new Map<string, string>();

  static async begin(): Promise<GroundDrill> {
    const drill = new GroundDrill(await FakeModel.start());
    try {
      await drill.#furnish();
      return drill;
    } catch (error) {
      // The caller does not get it then, so what has begun is ended here.
      await drill.end();
      throw error;
    }
  }

  private constructor(model: FakeModel) {
    this.#folder = mkdtempSync(join(tmpdir(), 'svc-ground-drill-'));
    writeFileSync(join(this.#folder, 'password'), ledgerPassword, { mode: 0o600 });
    this.#model = model;
    this.#stand = new GroundStand({
      ...ledgerEnvironment(join(this.#folder, 'password')),
      SVC_LLM_COMPATIBLE_BASE_URL: model.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    });
    this.#ledger = this.#newLedger();
  }

  #newLedger(): Ledger {
    return new Ledger(async (path, init) => {
      const answer = await this.#stand.fetch(path, init);
      if (answer.status >= 300) {
        this.#refusal = `${path}: ${answer.status} ${(await answer.clone().text()).slice(0, 300)}`;
      }
      return answer;
    });
  }

  async #furnish(): Promise<void> {
    if (!(await this.#stand.start())) {
      throw new Error(`svc did not start: ${this.#stand.output}`);
    }
    await this.#ledger.furnish();
    await this.#learnRoutes();
  }

  async #learnRoutes(): Promise<void> {
    const { paths } = JSON.parse((await this.#stand.ask('/api/v1/openapi.json'))!.text) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const mounts = mountsOfPlugins();
    for (const [path, methods] of Object.entries(paths)) {
      const plugin = mounts.find(({ mount }) => path === mount || path.startsWith(`${mount}/`))?.id;
      if (
        plugin === undefined ||
        path.includes('{') ||
        !('get' in methods) ||
        this.#routes.has(plugin)
      ) {
        continue;
      }
      if ((await this.#stand.ask(path))?.status === 200) {
        this.#routes.set(plugin, path);
      }
    }
  }

  async stand(ground: Ground, holdSeconds: number): Promise<Found> {
    const stand = this.#stand;
    let starts = '';
    if (ground.when !== 'serving') {
      await stand.kill();
      if (ground.when === 'first start') {
        stand.keep('kept');
        stand.restore(undefined);
        this.#ledger = this.#newLedger();
      }
    } else if (!stand.isAlive) {
      await stand.start();
    }
    const writes = ground.when === 'serving' ? writing(this.#ledger, 100) : undefined;
    await ground.spoil(stand);
    if (ground.when !== 'serving') {
      if (!stand.isAlive) {
        await stand.launch();
      }
      starts = (await stand.answers(120_000)) ? 'serves' : `ends: ${lastLine(stand.output)}`;
    }
    await pause(holdSeconds * 1_000);
    const out = stand.isAlive ? await this.#out() : ['svc itself'];
    const ready = stand.isAlive ? await stand.ask('/readyz') : undefined;
    await ground.mend(stand);
    // Whoever keeps services starts it again, as systemd does.
    if (!stand.isAlive) {
      starts ||= `ended: ${lastLine(stand.output)}`;
      await stand.start();
    }
    await writes?.end();
    const back = await this.#back();
    const lost = await this.#lost();
    const slowest = Math.max(0, ...back.values());
    const isBack = slowest < Infinity;
    const still = isBack ? [] : [...(await this.#out()), this.#refusal];
    const what = [...still, ...lost.slice(0, 5)].join('; ');
    if (!isBack) {
      say(withoutRequests(stand.output).slice(-6_000));
    }
    if (ground.when === 'first start') {
      await stand.kill();
      stand.restore('kept');
      await stand.start();
      this.#ledger = this.#newLedger();
    }
    return {
      ground: ground.name,
      ok: isBack && lost.length === 0,
      starts,
      out: out.join(', '),
      readyz: ready === undefined ? 'none' : `${ready.status} ${ready.text.slice(0, 1_200)}`,
      'all back, s': secondsOf(slowest),
      lost: lost.length,
      what,
      back,
    };
  }

  /** Plugins that do not serve: by their state, or by what their route answers. */
  async #out(): Promise<readonly string[]> {
    const listed = await this.#stand.ask('/api/v1/plugins?limit=200');
    if (listed?.status !== 200) {
      return [`host (${listed?.status ?? 'no answer'})`];
    }
    const { items } = JSON.parse(listed.text) as { items: { id: string; state: string }[] };
    const down = items
      .filter(({ state }) => !['active', 'disabled', 'discovered'].includes(state))
      .map(({ id, state }) => `${id} (${state})`);
    const asked = await Promise.all(
      [...this.#routes].map(
        async ([id, path]) => [id, (await this.#stand.ask(path))?.status ?? 0] as const,
      ),
    );
    return [
      ...down,
      ...asked
        .filter(
          ([id, status]) =>
            (status === 0 || status >= 500) && !down.some((one) => one.startsWith(`${id} `)),
        )
        .map(([id, status]) => `${id} (${status || 'no answer'})`),
    ];
  }

  /** Waits for all plugins, and for writes of every kind; returns the seconds that each took. */
  async #back(): Promise<ReadonlyMap<string, number>> {
    const began = performance.now();
    const seconds = (): number => Math.round((performance.now() - began) / 100) / 10;
    const back = new Map<string, number>();
    let missing: readonly string[] = ['all'];
    while (missing.length > 0 && performance.now() - began < backMs) {
      missing = await this.#out();
      for (const one of missing) {
        back.set(one.split(' ')[0]!, seconds() + 0.3);
      }
      await pause(missing.length > 0 ? 250 : 0);
    }
    missing.forEach((one) => back.set(one.split(' ')[0]!, Infinity));
    back.set('(writes)', await this.#writes(began, seconds));
    return back;
  }

  async #writes(began: number, seconds: () => number): Promise<number> {
    const probe = this.#ledger;
    for (;;) {
      const refused = probe.refused;
      // Eleven, so that each kind is among them.
      for (let number = 0; number < 11 && probe.refused === refused; number++) {
        await probe.write().catch(() => probe.refused++);
      }
      if (probe.refused === refused) {
        return seconds();
      }
      if (performance.now() - began > backMs) {
        return Infinity;
      }
      await pause(500);
    }
  }

  async #lost(): Promise<readonly string[]> {
    try {
      return await this.#ledger.lost();
    } catch (error) {
      return [`nothing could be read: ${String(error)}`];
    }
  }

  async end(): Promise<void> {
    await this.#stand.close();
    await this.#model.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** What the parts said, without each request that was refused meanwhile. */
const withoutRequests = (output: string): string =>
  output
    .split('\n')
    .filter((line) => !line.includes('http.request_unserved'))
    .join('\n');

const lastLine = (output: string): string => output.trim().split('\n').at(-1)!.slice(0, 300);

/** Paths that plugins answer below, the longest first. */
function mountsOfPlugins(): readonly { readonly mount: string; readonly id: string }[] {
  const folder = fileURLToPath(new URL('../../plugins', import.meta.url));
  return readdirSync(folder)
    .flatMap((id) => {
      const file = join(folder, id, 'plugin.json');
      const manifest = existsSync(file)
        ? (JSON.parse(readFileSync(file, 'utf8')) as { mounts?: string[] })
        : {};
      return (manifest.mounts ?? []).map((mount) => ({ mount, id }));
    })
    .toSorted((a, b) => b.mount.length - a.mount.length);
}
