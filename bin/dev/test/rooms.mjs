// Groups test files that share a process: those of one area start hosts of their own and nothing
// else.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Returns whether files share a process. The foundations have one process per file, since some
 * tests are about the process.
 */
const shares = (file) => file.startsWith('test/plugins/');
const maxFiles = 6;

/**
 * Flags of the engine: most processes live for a few seconds, in which optimizing a function pays
 * only after it has run for longer than by default. Newer engines count in another way.
 */
const unhurried = [
  '--liftoff-only',
  ...(Number(process.versions.node.split('.')[0]) < 24 ? ['--interrupt-budget=400000'] : []),
];

/** Where the processes of a run whose programs are in `folder` say what they used. */
export const processorFile = (folder) => join(folder, 'processor.txt');

/** Files by the process that runs them, in the order in which they were given. */
export function rooms(files) {
  const found = [];
  for (const file of files) {
    const room = found.at(-1);
    if (
      room !== undefined &&
      shares(file) &&
      room.length < maxFiles &&
      dirname(room[0]) === dirname(file)
    ) {
      room.push(file);
    } else {
      found.push([file]);
    }
  }
  return found;
}

/**
 * Writes the program of a group into `folder`, with each file as a suite of that name: hooks of a
 * file are its own, one that cannot be loaded is a failed suite, and those after it count. `built`:
 * where the code of a file is.
 *
 * The runner hooks each promise and handle to know the suite that a test is declared in. That took a
 * quarter of the processor time, and all tests are declared by the time their files are loaded, so
 * its hook ends there. An uncaught error later on fails the whole group.
 *
 * At its end the process adds a line to `processorFile`: seconds of processor, its own and of the
 * programs that it started, then its first file.
 */
export function roomProgram(folder, room, built) {
  const entry = join(folder, `${room[0].replaceAll(/[^a-z0-9]+/g, '-')}.test.mjs`);
  const modules = room.map((file) => [file, pathToFileURL(built.get(file)).href]);
  writeFileSync(
    entry,
    `import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
${JSON.stringify(unhurried)}.forEach((flag) => setFlagsFromString(flag));
const hooks = createRequire(import.meta.url)('node:async_hooks');
const { createHook } = hooks;
const hooksOfRunner = [];
hooks.createHook = (callbacks) => {
  hooksOfRunner.push(createHook(callbacks));
  return hooksOfRunner.at(-1);
};
const { describe } = await import('node:test');
hooks.createHook = createHook;
const loads = [];
for (const [file, module] of ${JSON.stringify(modules)}) {
  describe(file, () => {
    loads.push(import(module));
    return loads.at(-1);
  });
}
await Promise.allSettled(loads);
hooksOfRunner.forEach((hook) => hook.disable());
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  let ofPrograms = 0;
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    ofPrograms = (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    // Only Linux tells of them.
  }
  const seconds = (user + system) / 1e6 + ofPrograms;
  appendFileSync(${JSON.stringify(processorFile(folder))}, seconds.toFixed(1) + ' ' + ${JSON.stringify(room[0])} + '\\n');
});
`,
  );
  return entry;
}
