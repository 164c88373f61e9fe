// `npm test -- --changed`: selects the tests affected by changes since the branch left main, and
// since the last commit.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { sourceGraph } from './build.mjs';

/**
 * Returns those of `tests` that read a changed file: by an import, in a plugin that their host
 * loads, or as the text that they check.
 */
export async function changedTests(root, tests) {
  const changed = changedFiles(root);
  const plugins = readdirSync(join(root, 'plugins')).filter((id) =>
    existsSync(join(root, 'plugins', id, 'plugin.json')),
  );
  const entries = plugins
    .map((id) => `plugins/${id}/index.ts`)
    .filter((entry) => existsSync(join(root, entry)));
  const reads = await sourceGraph(root, [...tests, ...entries]);
  const touched = new Set(
    plugins.filter((id) =>
      changed.some(
        (file) =>
          file.startsWith(`plugins/${id}/`) || reads.get(`plugins/${id}/index.ts`)?.has(file),
      ),
    ),
  );
  const rooms = new Set([...touched].map((id) => `test/plugins/${id}/`));
  const texts = new Texts(root);
  const found = tests.filter((test) => {
    const own = [...reads.get(test)].filter(
      (file) => file.startsWith('test/') && !file.startsWith('test/kit/'),
    );
    return (
      changed.some((file) => reads.get(test).has(file)) ||
      [...rooms].some((room) => test.startsWith(room)) ||
      own.some((file) => texts.loadedPlugins(file).some((id) => touched.has(id))) ||
      (test.startsWith('test/docs/') && changed.some((file) => file.startsWith('docs/')))
    );
  });
  return { changed, found };
}

/** Against the branch point from main, or on main itself against the commit before; uncommitted and new files count. */
function changedFiles(root) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const [head] = git('rev-parse', 'HEAD');
  const base = branchPoint(git);
  const since = base === undefined || base === head ? 'HEAD~' : base;
  return [
    ...new Set([
      ...git('diff', '--name-only', '--relative', since),
      ...git('ls-files', '--others', '--exclude-standard'),
    ]),
  ];
}

function branchPoint(git) {
  try {
    return git('merge-base', 'HEAD', 'main')[0];
  } catch {
    // A clone of one branch knows no main.
    return undefined;
  }
}

class Texts {
  #root;
  #known = new Map();

  constructor(root) {
    this.#root = root;
  }

  /** Returns the plugins that a file names for the hosts of its tests: `plugins: ['iam', …]`. */
  loadedPlugins(file) {
    let ids = this.#known.get(file);
    if (ids === undefined) {
      const text = readFileSync(join(this.#root, file), 'utf8');
      ids = [...text.matchAll(/\bplugins\b[^\n[]{0,40}\[([^\]]*)\]/gi)].flatMap(([, list]) =>
        [...list.matchAll(/'([a-z-]+)'/g)].map(([, id]) => id),
      );
      this.#known.set(file, ids);
    }
    return ids;
  }
}
