import { globalOptions, type Command, usageFailure, printable } from 'svc/cli';
import type { Catalogue } from './catalogue.ts';

/** A command as its words, its options and what it does. */
interface Known {
  readonly words: readonly string[];
  readonly options: readonly string[];
  readonly summary: string;
}

/** The command that writes what a shell knows of the others. */
export const completionOf = (all: () => Promise<Catalogue>): Command => ({
  operands: ['<shell>'],
  options: {},
  about:
    'Prints a completion script for bash, zsh or fish. Generate it again after plugins add commands.',
  example: 'svc completion bash > /etc/bash_completion.d/svc',

  async run(call) {
    const shell = call.operand(0);
    const write = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (write === undefined) {
      throw usageFailure(
        `no completion for "${printable(shell)}": use ${Object.keys(scripts).join(', ')}`,
      );
    }
    const script = write(await commandsOf(await all()));
    return { data: { shell, script }, text: () => script.trimEnd() };
  },
});

async function commandsOf(catalogue: Catalogue): Promise<readonly Known[]> {
  return Promise.all(
    catalogue.names.map(async (name) => {
      const entry = catalogue.entry(name)!;
      // One whose manifest is broken has its words alone.
      const options = await catalogue.load(name).then(
        (found) => Object.keys(found.options),
        () => [],
      );
      return {
        words: name.split(' '),
        options: [...new Set([...options, ...Object.keys(globalOptions)])].map(
          (option) => `--${option}`,
        ),
        summary: entry.summary,
      };
    }),
  );
}

/** Words, options and summaries are letters, digits and signs that a shell leaves alone within single quotes. */
const quoted = (text: string): string => `'${printable(text).replaceAll("'", '’')}'`;

const firstWords = (known: readonly Known[]): readonly string[] => [
  ...new Set(known.map(({ words }) => words[0]!)),
];

const secondWords = (known: readonly Known[], first: string): readonly string[] =>
  known
    .filter(({ words }) => words[0] === first && words[1] !== undefined)
    .map(({ words }) => words[1]!);

/** The options of each command, as branches of a `case`. */
const cases = (known: readonly Known[]): string =>
  known
    .map(
      ({ words, options }) =>
        `    ${quoted(words.join(' '))}) options=${quoted(options.join(' '))} ;;`,
    )
    .join('\n');

const groups = (known: readonly Known[]): string =>
  firstWords(known)
    .map((first) => [first, secondWords(known, first)] as const)
    .filter(([, second]) => second.length > 0)
    .map(([first, second]) => `    ${quoted(first)}) words=${quoted(second.join(' '))} ;;`)
    .join('\n');

const bash = (known: readonly Known[]): string => `# completion of svc for bash
_svc() {
  local word=\${COMP_WORDS[COMP_CWORD]} words='' options=''
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases(known.filter(({ words }) => words.length === 2))}
  esac
  [ -n "$options" ] || case "\${COMP_WORDS[1]}" in
${cases(known.filter(({ words }) => words.length === 1))}
  esac
  case "\${COMP_WORDS[1]}" in
${groups(known)}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(firstWords(known).join(' '))} -- "$word"))
  elif [ "\${word:0:1}" = - ]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}
complete -o default -F _svc svc
`;

const zsh = (known: readonly Known[]): string => `#compdef svc
# completion of svc for zsh
autoload -U +X bashcompinit && bashcompinit
${bash(known)}`;

const fish = (known: readonly Known[]): string =>
  [
    '# completion of svc for fish',
    'complete -c svc -f',
    ...firstWords(known).map((first) => {
      const alone = known.find(({ words }) => words.length === 1 && words[0] === first);
      return `complete -c svc -n __fish_use_subcommand -a ${quoted(first)} -d ${quoted(alone?.summary ?? secondWords(known, first).join(', '))}`;
    }),
    ...known
      .filter(({ words }) => words.length === 2)
      .map(
        ({ words: [first, second], summary }) =>
          `complete -c svc -n '__fish_seen_subcommand_from ${first}' -a ${quoted(second!)} -d ${quoted(summary)}`,
      ),
    ...known.flatMap(({ words, options }) =>
      options.map((option) => {
        const condition = words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
        return `complete -c svc -n '${condition}' -l ${option.slice(2)}`;
      }),
    ),
    '',
  ].join('\n');

const scripts: Readonly<Record<string, (known: readonly Known[]) => string>> = { bash, zsh, fish };
