import type { Outcome, Step, Writer } from '../engine/engine.ts';
import type { Connection } from './connection.ts';
import { type Execute, executor } from './statements.ts';

/** Writes on the thread that calls, for a database in memory: nothing of it is on disk when a commit returns. */
export class DirectWriter implements Writer {
  readonly down = undefined;
  readonly #execute: Execute;
  #lost: Error | undefined;

  constructor(connection: Connection) {
    this.#execute = executor(connection);
  }

  get lost(): Error | undefined {
    return this.#lost;
  }

  step(step: Step, depth = 0): void {
    if (step === 'begin') {
      this.#lost = undefined;
    }
    try {
      texts(step, depth).forEach((text) => this.#execute(text, []));
    } catch (error) {
      this.#lost = error as Error;
    }
  }

  async query(sql: string, parameters: readonly unknown[]): Promise<Outcome> {
    return this.#execute(sql, parameters);
  }

  async commit(): Promise<void> {
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
    this.#execute('COMMIT', []);
  }

  async trim(): Promise<void> {}
}

function texts(step: Step, depth: number): readonly string[] {
  const unit = `unit${depth}`;
  switch (step) {
    case 'begin':
      return ['BEGIN'];
    case 'save':
      return [`SAVEPOINT ${unit}`];
    case 'release':
      return [`RELEASE ${unit}`];
    case 'undo':
      return [`ROLLBACK TO ${unit}`, `RELEASE ${unit}`];
    case 'rollback':
      return ['ROLLBACK'];
  }
}
