import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Child process `svc fake-model` of the demo. It ends with this process, even if that is killed,
 * through the channel between them.
 */
export class ScriptedModel {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Resolves once it answers; rejects where svc has no such command, since the area of models is not there. */
  static async start([command = '', ...first]: readonly string[]): Promise<ScriptedModel> {
    const child = spawn(command, [...first, 'fake-model', '--port', '0', '--json'], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const failed = once(child, 'error').then(([error]) => {
      throw error;
    });
    const lines: string[] = [];
    const told = (async (): Promise<string> => {
      for await (const line of createInterface({ input: child.stderr! })) {
        lines.push(line);
        const url = urlIn(line);
        if (url !== undefined) {
          return url;
        }
      }
      throw new Error(`svc fake-model exited before it answered: ${lines.join(' ')}`);
    })();
    const url = await Promise.race([told, failed]);
    child.stderr!.resume();
    return new ScriptedModel(child, url);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
  }
}

function urlIn(line: string): string | undefined {
  try {
    return (JSON.parse(line) as { url?: string }).url;
  } catch {
    // A line about what it is doing, such as the setting up of a checkout.
    return undefined;
  }
}
