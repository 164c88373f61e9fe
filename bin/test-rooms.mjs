// Which test files share a process. Loading the product costs each process seconds, more than most of these files take themselves.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Files of one area start houses of their own and nothing else; the foundations are tested with a process to each file, some of it is about the process. */
const shares = (file) => file.includes('/test/plugins/');
const mostFiles = 5;

/** `entries`: what to run instead of `files`, in the same order. `forget` removes what was written for it. */
export function shareProcesses(files) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-rooms-'));
  const rooms = [];
  for (const file of files) {
    const room = rooms.at(-1);
    if (
      room !== undefined &&
      shares(file) &&
      room.length < mostFiles &&
      dirname(room[0]) === dirname(file)
    ) {
      room.push(file);
    } else {
      rooms.push([file]);
    }
  }
  const entries = rooms.map((room, place) =>
    room.length === 1 ? room[0] : written(join(folder, `${place}.test.mjs`), room),
  );
  return { entries, forget: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A file that cannot be loaded is a failed test, so that those after it count. No test begins before all are loaded: a runner may end with the last one it knows. */
function written(entry, room) {
  writeFileSync(
    entry,
    `import { before, test } from 'node:test';
let loaded;
const loading = new Promise((done) => { loaded = done; });
before(() => loading);
for (const file of ${JSON.stringify(room.map((file) => pathToFileURL(file).href))}) {
  try {
    await import(file);
  } catch (error) {
    test(\`\${file} loads\`, () => {
      throw error;
    });
  }
}
loaded();
`,
  );
  return entry;
}
