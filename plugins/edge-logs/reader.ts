import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { ForeignPrograms, ProgramHandle } from 'svc/contracts/programs';
import type { Handle, HealthReport, PluginContext } from 'svc/sdk';

import { Logs, type LogsOptions } from './logs.ts';

/** Reads the logs of this machine once it is the turn of this generation. */
export class Reader {
  readonly #ctx: PluginContext;
  readonly #programs: Handle<ForeignPrograms>;
  readonly #options: LogsOptions;
  #logs: Logs | undefined;
  #journal: ProgramHandle | undefined;
  #giveBack: (() => Promise<void>) | undefined;

  constructor(ctx: PluginContext, programs: Handle<ForeignPrograms>, options: LogsOptions) {
    this.#ctx = ctx;
    this.#programs = programs;
    this.#options = options;
  }

  get behind(): number {
    return this.#logs?.behind ?? 0;
  }

  async tick(signal: AbortSignal): Promise<void> {
    this.#giveBack ??= await takeTurn(
      this.#options.folder,
      `${process.pid} ${performance.timeOrigin}`,
    );
    if (this.#giveBack !== undefined && this.#logs === undefined) {
      this.#logs = await Logs.open(this.#options);
      this.readJournal();
    }
    await this.#logs?.tick(signal);
  }

  /** Once the logs are open, and again when the plugin that runs programs is back. */
  readJournal(): void {
    const programs = this.#programs;
    const journal = this.#logs?.journal;
    const journalctl =
      journal && programs.available ? programs.get().find('journalctl') : undefined;
    if (journal !== undefined && journalctl !== undefined && !this.#ctx.scope.closed) {
      this.#journal = programs.get().start(this.#ctx, 'journal', journalctl, {
        args: () => journal.begin(),
        output: (chunk) => journal.feed(chunk),
      });
    }
  }

  health(): HealthReport {
    return (
      this.#logs?.health(this.#journal?.cause) ?? {
        ok: true,
        detail: 'waiting for the previous generation to stop reading',
      }
    );
  }

  async close(): Promise<void> {
    await this.#logs?.close();
    await this.#giveBack?.();
  }
}

/**
 * Waits for the turn to read: a new generation of this plugin starts while the old one still reads,
 * and two must never read simultaneously. Returns a function that ends the turn; undefined while
 * another generation of this process has it. The turn of a dead process is ignored.
 */
async function takeTurn(
  folder: string,
  process: string,
): Promise<(() => Promise<void>) | undefined> {
  const path = join(folder, 'reader');
  const holder = await readFile(path, 'utf8').catch(() => undefined);
  if (holder === process) {
    return undefined;
  }
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(process);
  } finally {
    await file.close();
  }
  return async () => await rm(path, { force: true });
}
