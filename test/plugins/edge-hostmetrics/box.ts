import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { machine as architecture, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

import ajvModule from 'ajv';
import { MachineFiles, pageSizeOf, type WriteBody } from 'svc/probe';
import type { Logger } from 'svc/sdk';
import { ProtoReader, snappyDecode } from 'svc/store';

import { Canonical } from '../../../plugins/edge-hostmetrics/canonical.ts';
import { Collection } from '../../../plugins/edge-hostmetrics/collection.ts';
import {
  Filesystems,
  type FsNumbers,
} from '../../../plugins/edge-hostmetrics/moment/filesystems.ts';
import { type Machine, Moment } from '../../../plugins/edge-hostmetrics/moment/moment.ts';
import { NameFilter } from '../../../plugins/edge-hostmetrics/moment/name-filter.ts';
import { CpuHistory } from '../../../plugins/edge-hostmetrics/proc/stat.ts';
import { milliseconds } from '../../../plugins/edge-hostmetrics/scrape/target-spec.ts';
import type { HostSpec } from '../../../plugins/edge-hostmetrics/spec.ts';

// ajv is a CommonJS module: what the types call its default is that of the namespace.
const Ajv = ajvModule as unknown as typeof ajvModule.default;

/** A spec as the uplink hands it over: checked against the edge.json of a plugin, defaults filled in. */
export function specOf<T>(plugin: string, wish: object = {}): T {
  const file = JSON.parse(
    readFileSync(new URL(`../../../plugins/${plugin}/edge.json`, import.meta.url), 'utf8'),
  ) as { spec: object };
  const spec = structuredClone(wish);
  const check = new Ajv({ useDefaults: true, strict: false }).compile(file.spec);
  if (!check(spec)) {
    throw new Error(`the spec is refused: ${JSON.stringify(check.errors)}`);
  }
  return spec as T;
}

/** Samples of remote write, by `name{label="value",…}` with the labels in order. */
export type Samples = Map<string, { value: number; time: number }>;

export function decoded(bodies: readonly WriteBody[]): Samples {
  const samples: Samples = new Map();
  for (const { body } of bodies) {
    const request = new ProtoReader(snappyDecode(body, { maxBytes: 64 * 1024 * 1024 }));
    while (request.next() === 1) {
      const series = request.message();
      const labels: [string, string][] = [];
      let value = NaN;
      let time = NaN;
      for (let field = series.next(); field !== 0; field = series.next()) {
        const part = series.message();
        if (field === 1) {
          const pair: [string, string] = ['', ''];
          for (let i = part.next(); i !== 0; i = part.next()) {
            pair[i - 1] = part.string();
          }
          labels.push(pair);
        } else {
          for (let i = part.next(); i !== 0; i = part.next()) {
            if (i === 1) {
              value = part.double();
            } else {
              time = part.int64();
            }
          }
        }
      }
      samples.set(keyOf(labels), { value, time });
    }
  }
  return samples;
}

export function keyOf(labels: readonly (readonly [string, string])[]): string {
  const name = labels.find(([label]) => label === '__name__')?.[1];
  const rest = labels
    .filter(([label, value]) => label !== '__name__' && value !== '')
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return rest.length === 0 ? `${name}` : `${name}{${rest.join(',')}}`;
}

/** Creates a logger whose lines can be inspected. */
export function logbook(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (fields: object, message: string): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, debug: write, info: write, warn: write, error: write };
}

/** Timers that go off when the test says so. */
export function timers(): {
  readonly after: (ms: number, work: () => void) => () => void;
  elapse(): void;
} {
  let waiting: (() => void)[] = [];
  return {
    after(_ms, work) {
      waiting.push(work);
      return () => void (waiting = waiting.filter((other) => other !== work));
    },
    elapse: () => waiting.splice(0).forEach((work) => work()),
  };
}

/** Machine made of files, or this one; each measurement advances time by `step` milliseconds. */
export class Box {
  readonly machine: Machine;
  readonly spec: HostSpec;
  readonly canonical = new Canonical();
  readonly log = logbook();
  readonly timers = timers();
  readonly stuck: string[] = [];
  now = Date.UTC(2026, 10, 22, 12);
  readonly #collection: Collection;

  constructor(root: string, wish: object = {}, disks?: (path: string) => Promise<FsNumbers>) {
    const spec = specOf<HostSpec>('edge-hostmetrics', wish);
    const files = new MachineFiles(root);
    this.spec = spec;
    this.machine = {
      files,
      filesystems: new Filesystems({
        files,
        statfs: disks ?? ((path) => statfs(path)),
        after: this.timers.after,
        deadlineMs: milliseconds(spec.filesystem.timeout),
        mountExclude: new NameFilter(spec.filesystem.mount_exclude, 'filesystem.mount_exclude'),
        typeExclude: new NameFilter(spec.filesystem.fstype_exclude, 'filesystem.fstype_exclude'),
        onStuck: (mountpoint, stuck) =>
          this.stuck.push(`${mountpoint} ${stuck ? 'hangs' : 'answers'}`),
      }),
      cpuHistory: new CpuHistory(),
      diskExclude: new NameFilter(spec.disk.device_exclude, 'disk.device_exclude'),
      networkExclude: new NameFilter(spec.network.device_exclude, 'network.device_exclude'),
      pageSize: pageSizeOf(files),
      architecture: architecture(),
    };
    this.#collection = new Collection(spec, this.canonical, this.log);
  }

  moment(step = 10_000): Moment {
    this.now += step;
    return new Moment(this.machine, this.now, this.now);
  }

  async measure(step?: number): Promise<Samples> {
    return decoded(await this.#collection.take(this.moment(step)));
  }
}

/** A folder that stands for the root of an odd machine, removed with the test. */
export function rootOf(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>>,
): { readonly root: string; write(path: string, text: string): void } {
  const root = mkdtempSync(join(tmpdir(), 'svc-machine-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  Object.entries(files).forEach(([path, text]) => write(path, text));
  return { root, write };
}
