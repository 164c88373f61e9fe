// The rule for subjects of commits: the hook hooks/commit-msg asks it about one message, `.ci/run` about every commit since the rule.
import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const longestSubject = 72;
const areas = /^[a-z0-9][\w./-]*(?:, [a-z0-9][\w./-]*)*: \S/;
/** Subjects that git writes itself. */
const writtenByGit = /^(?:Merge|Revert|Reapply) |^(?:fixup|squash|amend)! /;

/** Returns what is wrong with a subject, as a sentence with the remedy; undefined if it follows the rule. */
export function subjectProblem(subject) {
  if (writtenByGit.test(subject)) {
    return undefined;
  }
  if (!areas.test(subject)) {
    return 'does not begin with an area: write "area: imperative", such as "alert: keep stale instances open"';
  }
  if ([...subject].length > longestSubject) {
    return `has ${[...subject].length} characters; at most ${longestSubject}: move the why into the body`;
  }
  return subject.endsWith('.') ? 'ends with a full stop: remove it' : undefined;
}

/** Returns the subject of a message file as git hands it to a hook: its first line that is neither empty nor a comment. */
function subjectOf(message) {
  return message.split('\n').find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';
}

/** Returns the subjects of all commits after the one that brought the rule. */
function subjectsSinceRule(root) {
  const git = (...args) => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
    });
    if (status !== 0) {
      throw new Error(`git ${args[0]}: ${stderr.trim()}`);
    }
    return stdout.trim();
  };
  const rule = 'bin/dev/commit-subject.mjs';
  const base = git('log', '--diff-filter=A', '--format=%H', '-1', '--', rule);
  return base === '' ? [] : git('log', '--format=%h %s', `${base}..HEAD`).split('\n');
}

function check(named) {
  const problems = named.flatMap(({ name, subject }) => {
    const problem = subjectProblem(subject);
    return problem === undefined ? [] : [`${name}"${subject}" ${problem}`];
  });
  problems.forEach((problem) => console.error(problem));
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (realpathSync(resolve(process.argv[1] ?? '')) === fileURLToPath(import.meta.url)) {
  const [file] = process.argv.slice(2);
  const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  if (file === undefined) {
    check(
      subjectsSinceRule(root)
        .filter((line) => line !== '')
        .map((line) => ({
          name: `${line.slice(0, line.indexOf(' '))} `,
          subject: line.slice(line.indexOf(' ') + 1),
        })),
    );
  } else {
    check([{ name: '', subject: subjectOf(readFileSync(file, 'utf8')) }]);
  }
}
