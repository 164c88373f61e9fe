import type { PluginHost } from '../host/index.ts';
import { currentPin } from '../registry/index.ts';
import { messageOf } from '../sdk/index.ts';

/** A house of either kind, as far as its process has to know it. */
export interface Standing {
  readonly host: Pick<PluginHost, 'strike'>;
  stop(reason: string): Promise<void>;
}

type Stop = (reason: string, code: number) => void;

/** Runs a house until a signal ends it; resolves with the exit code, rejects when it cannot start. */
export async function runInForeground<H extends Standing>(start: () => Promise<H>, opened: (house: H) => void): Promise<number> {
  // What a house keeps is nobody else's on this machine, also where the data folder was there before.
  process.umask(0o077);
  const starting = start();
  const ended = new Promise<number>((resolve) => {
    // Also a house that is still being built is finished first, and then taken down in order.
    const stop: Stop = (reason, code) =>
      void starting
        .then((house) => house.stop(reason))
        .then(
          () => resolve(code),
          (error: unknown) => {
            process.stderr.write(`svc: stopping was not clean: ${messageOf(error)}\n`);
            resolve(1);
          },
        );
    stopOnSignals(stop);
    outliveReaders();
    attributeCrashes(starting, stop);
  });
  opened(await starting);
  return await ended;
}

/** The first signal stops in order, the second one at once. */
function stopOnSignals(stop: Stop): void {
  let asked = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (asked) {
        process.exit(130);
      }
      asked = true;
      stop(signal, 0);
    });
  }
}

/** Whoever read the output may go away: that is no reason to stop, and telling it there would be the next such error, for ever. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => undefined);
  }
}

/** An error that nobody caught: a plugin's goes on its account, the house's own ends the process in order. */
function attributeCrashes(starting: Promise<Standing>, stop: Stop): void {
  const onError = (error: unknown): void => {
    const owner = currentPin()?.owner;
    if (owner) {
      void starting.then(
        (house) => house.host.strike(owner, 'uncaught error', error),
        () => undefined,
      );
      return;
    }
    process.stderr.write(`svc: an error that nobody caught; stopping. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    stop('uncaught error', 1);
  };
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
}
