import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';

import type { AllowedPaths } from '../../reach/allowed-paths.ts';
import type { AllowedViews } from '../../reach/allowed-views.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { errors } from '../errors.ts';
import { fitRows } from '../fit-rows.ts';

export interface GitParts {
  readonly programs: MachinePrograms;
  readonly views: AllowedViews;
  /** Paths that may be named. */
  readonly measured: AllowedPaths;
  /** Paths that may be read. */
  readonly readable: AllowedPaths;
}

interface LogParams {
  readonly path: string;
  readonly file?: string;
  readonly limit: number;
}

interface ShowParams {
  readonly path: string;
  readonly commit: string;
  readonly context: number;
}

const maxOutput = 2 * 1024 * 1024;
const maxDiff = 128 * 1024;
/** Parts of a commit and of its fields, which no subject holds. */
const [commitSign, fieldSign] = ['%x1e', '%x1f'];
const format = `--format=${commitSign}${['%H', '%cd', '%an', '%s'].join(fieldSign)}`;
/** One commit against the one before it. */
const showing = [
  'show',
  '--no-color',
  '--no-renames',
  '--diff-merges=first-parent',
  '--no-ext-diff',
  '--no-textconv',
];
const folder = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  description: 'Folder of the repository, such as /etc.',
} as const;
const common = { class: 'safe', tier: 'specialty' } as const;

/**
 * Nothing that a repository says of itself is run: no hook, monitor, pager, external diff or filter,
 * and nothing is fetched. Repositories of other users are read all the same.
 */
const harmless = [
  '-c',
  'safe.directory=*',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.pager=cat',
  '-c',
  'core.quotePath=false',
  '-c',
  'protocol.allow=never',
  '-c',
  'log.showSignature=false',
  '--no-pager',
  '--literal-pathspecs',
];
const env = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_TERMINAL_PROMPT: '0',
  HOME: '/nonexistent',
};

async function git(
  { programs }: GitParts,
  skill: string,
  root: string,
  args: readonly string[],
  call: SkillCall,
  most = maxOutput,
) {
  return await programs.ask('git', skill, {
    args: ['-C', root, ...harmless, ...args],
    call,
    maxBytes: most,
    env,
  });
}

export const gitLog = (parts: GitParts): EdgeSkill => ({
  ...common,
  key: 'git_log',
  name: 'History of a repository',
  description:
    'The latest commits of a Git repository on the machine, such as /etc under etckeeper: date, author, subject and changed files. To see what changed in the files, use git_show.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['path'],
    properties: {
      path: folder,
      file: {
        type: 'string',
        pattern: '^[^-/\\0][^\\0]{0,999}$',
        description: 'Only commits that changed this file or folder, relative to the repository.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 20 },
    },
  },
  async run({ path, file, limit }: LogParams, call: SkillCall) {
    parts.views.requireView('git');
    return await parts.measured.with(path, async ({ path: root }) => {
      const { text } = await git(
        parts,
        'git_log',
        root,
        [
          'log',
          `--max-count=${limit}`,
          '--no-color',
          '--name-status',
          '--no-ext-diff',
          '--no-textconv',
          '--date=iso-strict',
          format,
          '--end-of-options',
          'HEAD',
          '--',
          ...(file === undefined ? [] : [file]),
        ],
        call,
      );
      return { result: { repository: root, commits: fitRows(commitsIn(text)) } };
    });
  },
});

export const gitShow = (parts: GitParts): EdgeSkill => ({
  ...common,
  key: 'git_show',
  name: 'One commit',
  description:
    'The changes made by one commit of a Git repository on the machine, as a diff. Files whose content the policy does not allow are listed by name only.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['path'],
    properties: {
      path: folder,
      commit: {
        type: 'string',
        pattern: '^(HEAD(~[0-9]{1,4})?|[0-9a-f]{4,64})$',
        default: 'HEAD',
        description: 'Commit hash as returned by git_log, or a revision such as HEAD~1.',
      },
      context: { type: 'integer', minimum: 0, maximum: 20, default: 3 },
    },
  },
  async run({ path, commit, context }: ShowParams, call: SkillCall) {
    parts.views.requireView('git');
    return await parts.measured.with(path, async ({ path: root }) => {
      const ask = async (args: readonly string[], from = root, most = maxOutput) =>
        await git(parts, 'git_show', from, args, call, most);
      const head = await ask([
        ...showing,
        '--name-status',
        '--date=iso-strict',
        format,
        '--end-of-options',
        commit,
      ]);
      const [found] = commitsIn(head.text);
      if (found === undefined) {
        throw errors.no_repository({ path });
      }
      const top = (await ask(['rev-parse', '--show-toplevel'])).text.trim();
      const names = found.files.map(({ file }) => file);
      const readable = names.filter((file) => parts.readable.allows(`${top}/${file}`));
      const of = ['--end-of-options', found.commit, '--', ...readable];
      const diff =
        readable.length === 0
          ? { text: '', cut: false }
          : await ask([...showing, '--format=', `--unified=${context}`, ...of], top, maxDiff);
      return {
        result: {
          repository: top,
          ...found,
          not_allowed: names.filter((file) => !readable.includes(file)),
          diff: diff.text,
        },
        readOn: diff.cut
          ? {
              hint: 'The diff does not fit in the response; request less context to see more of it.',
              params: { context: 0 },
            }
          : undefined,
      };
    });
  },
});

/** Signs of commits and fields are control characters, which are shown as U+FFFD here. */
function commitsIn(text: string) {
  return text
    .split(/^(?=\ufffd)/m)
    .filter((part) => part.startsWith('\ufffd'))
    .flatMap((part) => {
      const [head = '', ...names] = part.slice(1).split('\n');
      const [commit, at, author, ...subject] = head.split('\ufffd');
      return commit === undefined
        ? []
        : [
            {
              commit,
              at: at ?? '',
              author: author ?? '',
              subject: subject.join(' ').slice(0, 300),
              files: names
                .flatMap((line) => {
                  const [state, ...files] = line.split('\t');
                  return files.length === 0
                    ? []
                    : [{ change: state!.slice(0, 1), file: files.at(-1)! }];
                })
                .slice(0, 200),
            },
          ];
    });
}
