import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startThreadForTest, type TestThread } from 'svc/testing';

import type { Change } from '../../plugins/knowledge/documents/tables.ts';
import type { Answer, Search } from '../../plugins/knowledge/search/searcher.ts';
import type { Outcome } from '../exercise.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const worker = (name: string): string => join(root, 'plugins/knowledge', `${name}-worker.ts`);
const perDoc = 10;
const perBatch = 32;

interface Question {
  readonly question: string;
}

/**
 * Generator of texts from the vault's words, with the same frequencies, and of rare ones that
 * nobody wrote; deterministic.
 */
class Texts {
  readonly #words: readonly string[];
  #seed = 1;

  constructor() {
    const files = readdirSync(join(root, 'vault'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.md'),
    );
    this.#words = files.flatMap(
      (name) => readFileSync(join(root, 'vault', name), 'utf8').match(/[A-Za-z_]{2,}/g) ?? [],
    );
  }

  change(id: number): Change {
    const sections = Array.from(
      { length: perDoc },
      (_, index) =>
        `## ${this.#some(4)} ${index}\n\n${this.#some(90)} host-${this.#next() % 50_000}\n`,
    );
    const content = sections.join('\n');
    const place = {
      path: `bench/${id % 500}/${id}.md`,
      title: this.#some(5),
      source: 'repo',
      repo_id: 1,
      org_id: null,
      of_devices: 0,
      tags: '[]',
      version: 1,
    } as const;
    const made = {
      size_bytes: content.length,
      origin_digest: null,
      created_by: 'bench',
      created_at: 0,
      updated_at: 0,
    };
    return { seq: id, id, doc: { id, ...place, ...made, content } };
  }

  #some(count: number): string {
    return Array.from(
      { length: count },
      () => this.#words[this.#next() % this.#words.length]!,
    ).join(' ');
  }

  #next(): number {
    this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return this.#seed >> 3;
  }
}

/**
 * Searches one after the other while the index is rebuilt; `--chunks 1000000` is ten times as much.
 */
export async function run({
  chunks = 100_000,
  searches = 1_000,
}: { readonly chunks?: number; readonly searches?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-knowledge-'));
  const [index, search] = (await Promise.all(
    ['index', 'search'].map((name) => startThreadForTest(undefined, worker(name), { folder })),
  )) as [TestThread, TestThread];
  try {
    const docs = Math.ceil(chunks / perDoc);
    const first = await fill(index, docs);
    await index.call('promote');
    const calm = await ask(search, searches, () => true);
    let isOver = false;
    const again = fill(index, docs).finally(() => (isOver = true));
    const busy = await ask(search, searches, () => !isOver);
    const rebuilt = await again;
    const memory = Math.round(process.memoryUsage().rss / 2 ** 20);
    const ok = busy.p99 < 50 && first.perSecond >= 2_000;
    const searched = (figures: Figures) => ({
      'p50, ms': figures.p50,
      'p99, ms': figures.p99,
      'longest, ms': figures.longest,
      searches: figures.count,
      'with a hit': figures.found,
    });
    return {
      ok,
      chunks: docs * perDoc,
      'chunks/s': Math.round(first.perSecond),
      'chunks/s while searched': Math.round(rebuilt.perSecond),
      'process, MiB': memory,
      'heap of the index thread at a tenth and at the end, MiB': `${first.early} and ${first.late}`,
      searches: [
        { while: 'nothing else happens', ...searched(calm) },
        { while: 'a re-index runs', ...searched(busy) },
      ],
    };
  } finally {
    await Promise.all([index.close(), search.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(
  index: TestThread,
  docs: number,
): Promise<{ readonly perSecond: number; readonly early: number; readonly late: number }> {
  await index.call('begin', { lineage: 'bench' });
  const texts = new Texts();
  let [chunks, tookMs, early] = [0, 0, 0];
  for (let id = 1; id <= docs; id += perBatch) {
    const changes = Array.from({ length: Math.min(perBatch, docs - id + 1) }, (_, at) =>
      texts.change(id + at),
    );
    const began = performance.now();
    chunks += await index.call<number>(
      'apply',
      { which: 'next', from: id - 1, changes },
      { timeoutMs: 60_000 },
    );
    tookMs += performance.now() - began;
    early ||= id >= docs / 10 ? heap() : 0;
  }
  return { perSecond: chunks / (tookMs / 1_000), early, late: heap() };
}

const heap = (): number => Math.round(process.memoryUsage().rss / 2 ** 20);

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  readonly count: number;
  readonly found: number;
}

async function ask(search: TestThread, most: number, goesOn: () => boolean): Promise<Figures> {
  const questions = JSON.parse(
    readFileSync(join(root, 'test/fixtures/knowledge/questions.json'), 'utf8'),
  ) as readonly Question[];
  const times: number[] = [];
  let found = 0;
  for (let turn = 0; turn < most && goesOn(); turn++) {
    const asked: Search = {
      text: questions[turn % questions.length]!.question,
      limit: 10,
      path: undefined,
      tag: undefined,
      audiences: { among: [0, 1, 2], ofDevices: false },
      mode: 'lexical',
      vector: undefined,
      weight: 0,
    };
    const began = performance.now();
    const { items } = await search.call<Answer>('search', asked);
    times.push(performance.now() - began);
    found += items.length > 0 ? 1 : 0;
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), longest: times.at(-1) ?? 0, count: times.length, found };
}
