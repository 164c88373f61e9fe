import { eachLine } from 'svc/output';
import { type Logger, SvcError } from 'svc/sdk';

import { residentBytes } from '../process/attempt.ts';
import { type ChildOrigin, programFile } from '../process/program-file.ts';
import { type Spawned, started } from '../process/spawn.ts';
import { frame, frameReader } from '../wire/frames.ts';
import { errors } from './errors.ts';
import type { TablesAnswer, TablesQuestion } from './tables-wire.ts';

/**
 * Cause of the end of a tables process, in one word that people and drills search for; undefined if
 * it exited itself.
 */
export type TablesCause =
  | 'endless-statement'
  | 'out-of-memory'
  | 'not-opened'
  | 'stopped'
  | 'exited';

export interface TablesEnd {
  readonly kind: TablesCause;
  readonly text: string;
}

const maxAnswerBytes = 16 * 1024 * 1024;
const maxRssMb = 256;
const lookMs = 250;

/** One process that has the tables of one pack open. Nothing stops SQLite in a statement but the end of the process that runs it. */
export class TablesProcess {
  /** Never rejects. */
  readonly ended: Promise<TablesEnd>;
  readonly #spawned: Spawned;
  readonly #watch: NodeJS.Timeout;
  #verdict: TablesEnd | undefined;
  #hear: ((answer: TablesAnswer) => void) | undefined;

  private constructor(spawned: Spawned, label: string, log: Logger) {
    this.#spawned = spawned;
    const { process: child, channel, stdout, stderr } = spawned;
    const onBody = (body: Buffer): void =>
      this.#hear?.(JSON.parse(body.toString('utf8')) as TablesAnswer);
    channel.on(
      'data',
      frameReader(maxAnswerBytes, onBody, (bytes) =>
        this.kill({ kind: 'out-of-memory', text: `was ended: it answered ${bytes} bytes` }),
      ),
    );
    // The end of the process explains the failure; a broken pipe is only its consequence.
    channel.on('error', () => undefined);
    eachLine(stdout, (line) => log.info({ tables: label }, line));
    eachLine(stderr, (line) => log.warn({ event: 'packs.tables_output', tables: label }, line));
    this.#watch = setInterval(() => this.#look(), lookMs).unref();
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        clearInterval(this.#watch);
        channel.destroy();
        resolve(
          this.#verdict ?? {
            kind: 'exited',
            text: `exited (${signal ?? `code ${code}`})`,
          },
        );
      });
    });
  }

  static async start(origin: ChildOrigin, label: string, log: Logger): Promise<TablesProcess> {
    const file = await programFile(origin);
    const spawned = await started(
      [process.execPath, file],
      origin.isBinary ? { SVC_ROLE: 'child' } : {},
    );
    return new TablesProcess(spawned, label, log);
  }

  /** Ends the process when the answer is late. */
  async ask(method: TablesQuestion['method'], input: unknown, timeoutMs: number): Promise<unknown> {
    const { channel } = this.#spawned;
    const what =
      method === 'open'
        ? 'its migrations'
        : `a statement (${String((input as readonly unknown[])[0]).slice(0, 120)})`;
    const late = setTimeout(
      () =>
        this.kill({
          kind: 'endless-statement',
          text: `was ended: it ran ${what} for more than ${timeoutMs} ms`,
        }),
      timeoutMs,
    );
    try {
      const answer = new Promise<TablesAnswer>((resolve) => (this.#hear = resolve));
      channel.write(frame(Buffer.from(JSON.stringify({ method, input } satisfies TablesQuestion))));
      const heard = await Promise.race([answer, this.ended]);
      if ('kind' in heard) {
        throw errors.tables_process({ text: heard.text }, { retryAfterSeconds: 5 });
      }
      if (heard.error !== undefined) {
        throw new SvcError(heard.error.code, heard.error.message);
      }
      return heard.value;
    } finally {
      clearTimeout(late);
    }
  }

  kill(end: TablesEnd): void {
    this.#verdict ??= end;
    this.#spawned.process.kill('SIGKILL');
  }

  #look(): void {
    const bytes = residentBytes(this.#spawned.pid);
    if (bytes !== undefined && bytes > maxRssMb * 1024 * 1024) {
      this.kill({
        kind: 'out-of-memory',
        text: `was ended: it grew to ${Math.round(bytes / 1024 / 1024)} MB in a statement, ${maxRssMb} MB are allowed`,
      });
    }
  }
}
