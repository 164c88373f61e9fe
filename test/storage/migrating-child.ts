import { migrationsOfChild } from './child-migrations.ts';
import { openIn, startWriter } from './folder.ts';

/** Migrates a new folder, and kills itself right after the given message has gone to the writer. */
async function migrate(dataDir: string, dieAt: number): Promise<void> {
  let steps = 0;
  const storage = await openIn(dataDir, {
    startWriter(data) {
      const worker = startWriter(data);
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (message: unknown) => {
        post(message);
        steps += 1;
        if (steps === dieAt) {
          // Gives the thread the time to act on some runs and not on others.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, dieAt % 4);
          process.kill(process.pid, 'SIGKILL');
        }
      };
      return worker;
    },
  });
  await storage.migrate('notes', migrationsOfChild);
  await storage.close();
}

await migrate(process.argv[2]!, Number(process.argv[3]));
