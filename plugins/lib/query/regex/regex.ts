import { RE2JS, RE2JSException } from 're2js';

import { type SvcError } from 'svc/sdk';
import { errors } from './errors.ts';
import { type Facts, factsOf } from './facts.ts';
import { type WordList, wordList } from './words.ts';

/** Match, followed by its groups; undefined for a group that did not participate. */
export type Groups = (string | undefined)[];

/** A regular expression of RE2's syntax: its time grows with the text alone, whatever its author wrote. */
export interface Pattern {
  readonly text: string;
  test(subject: string): boolean;
  exec(subject: string): Groups | undefined;
  /** Group names by number; [0] is the whole match and has none. */
  readonly groupNames: readonly (string | undefined)[];
  /** All there is to the pattern: it matches one of these (anchored), or what contains one of these (not anchored). */
  readonly literals?: ReadonlySet<string>;
  /** Every subject of an anchored pattern that matches begins with this. */
  readonly prefix?: string;
  /** Every subject that matches contains this: what does not need not be looked at. */
  readonly contains?: string;
  /** Replaces each match; `$1`, `$name`, `${name}` and `$$` in the template are expanded. */
  replaceAll(subject: string, template: string): string;
  /** The template with the groups of one match put in. */
  expand(groups: Groups, template: string): string;
}

export interface RegexOptions {
  /** The whole subject must match, not a part of it. */
  readonly anchored?: boolean;
  /** True to ignore case. */
  readonly fold?: boolean;
  /** `.` matches a newline, too. */
  readonly dotAll?: boolean;
}

const longestText = 4096;
/** Max length of a list of words. */
const longestList = 64 * 1024;

/** A longer program could hold the thread for seconds on one long line. */
const largestProgram = 5_000;

export function compileRegex(
  text: string,
  { anchored = false, fold = false, dotAll = false }: RegexOptions = {},
): Pattern {
  if (text.length > longestText) {
    const words =
      anchored && !fold && text.length <= longestList ? wordList(text, dotAll) : undefined;
    if (words === undefined) {
      throw refused(`it is longer than ${longestText} characters`);
    }
    return ofWords(text, words);
  }
  if (/\p{Surrogate}/u.test(text)) {
    throw refused('it is not valid Unicode');
  }
  const facts = factsOf(text, { anchored, fold, dotAll });
  if (facts.size > largestProgram) {
    throw refused(`it repeats too much (${facts.size} steps of at most ${largestProgram})`);
  }
  const program = compile(text, (fold ? RE2JS.CASE_INSENSITIVE : 0) | (dotAll ? RE2JS.DOTALL : 0));
  const names = namesOf(program);
  const { test, contains } = facts;
  const lacks =
    contains === undefined ? () => false : (subject: string) => !subject.includes(contains);
  const engine = anchored
    ? (subject: string) => program.testExact(subject)
    : (subject: string) => program.test(subject);
  const { native } = facts;
  const slow = (subject: string): boolean =>
    !lacks(subject) &&
    (native !== undefined && native.isQuick(subject)
      ? native.expression.test(subject)
      : engine(subject));
  return {
    text,
    groupNames: names,
    ...shared(facts),
    test: test === undefined ? slow : (subject) => test(subject) ?? slow(subject),
    exec(subject) {
      if (lacks(subject)) {
        return undefined;
      }
      if (native !== undefined && native.isQuick(subject)) {
        return native.expression.exec(subject)?.slice();
      }
      const matcher = program.matcher(subject);
      return (anchored ? matcher.matches() : matcher.find())
        ? groupsOf(matcher, names.length)
        : undefined;
    },
    replaceAll(subject, template) {
      return lacks(subject) ? subject : replaceAll(program, names, anchored, subject, template);
    },
    expand: (groups, template) => expandTemplate(template, groups, names),
  };
}

function ofWords(text: string, { literals, hasGroup, test, inBrackets }: WordList): Pattern {
  const groupNames = hasGroup ? [undefined, undefined] : [undefined];
  const groupsOfWord = (subject: string): Groups =>
    hasGroup ? [subject, inBrackets(subject)] : [subject];
  return {
    text,
    groupNames,
    test,
    ...(literals !== undefined && { literals }),
    exec: (subject) => (test(subject) ? groupsOfWord(subject) : undefined),
    replaceAll: (subject, template) =>
      test(subject) ? expandTemplate(template, groupsOfWord(subject), groupNames) : subject,
    expand: (groups, template) => expandTemplate(template, groups, groupNames),
  };
}

const refused = (why: string): SvcError => errors.pattern({ why });

function compile(text: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(text, flags);
  } catch (error) {
    if (error instanceof RE2JSException) {
      throw errors.pattern_syntax({ cause: error.message }, { cause: error });
    }
    throw error;
  }
}

function shared({
  literals,
  prefix,
  contains,
}: Facts): Pick<Pattern, 'literals' | 'prefix' | 'contains'> {
  return {
    ...(literals !== undefined && { literals }),
    ...(prefix !== undefined && { prefix }),
    ...(contains !== undefined && { contains }),
  };
}

function namesOf(program: RE2JS): (string | undefined)[] {
  const names = Array.from<string | undefined>({ length: program.groupCount() + 1 });
  for (const [name, index] of Object.entries(program.namedGroups())) {
    names[index] = name;
  }
  return names;
}

type Match = ReturnType<RE2JS['matcher']>;

function groupsOf(matcher: Match, count: number): Groups {
  const groups: Groups = [];
  for (let i = 0; i < count; i++) {
    groups.push(matcher.group(i) ?? undefined);
  }
  return groups;
}

/** An empty match directly behind a match does not count. */
function replaceAll(
  program: RE2JS,
  names: readonly (string | undefined)[],
  anchored: boolean,
  subject: string,
  template: string,
): string {
  const matcher = program.matcher(subject);
  if (anchored) {
    return matcher.matches()
      ? expandTemplate(template, groupsOf(matcher, names.length), names)
      : subject;
  }
  let result = '';
  let copied = 0;
  let lastEnd = -1;
  while (matcher.find()) {
    const start = matcher.start();
    const end = matcher.end();
    if (start === end && start === lastEnd) {
      continue;
    }
    result +=
      subject.slice(copied, start) +
      expandTemplate(template, groupsOf(matcher, names.length), names);
    copied = end;
    lastEnd = end;
  }
  return copied === 0 && result === '' ? subject : result + subject.slice(copied);
}

const reference = /\$(?:\$|\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))/g;

/** `$1`, `${1}`, `$name`, `${name}`: an unbraced name is as long as it can be, an unknown one is empty; `$$` is a dollar sign. */
function expandTemplate(
  template: string,
  groups: readonly (string | undefined)[],
  names: readonly (string | undefined)[],
): string {
  return template.includes('$')
    ? template.replace(reference, (whole, braced?: string, bare?: string) =>
        whole === '$$' ? '$' : named((braced ?? bare)!, groups, names),
      )
    : template;
}

function named(
  name: string,
  groups: readonly (string | undefined)[],
  names: readonly (string | undefined)[],
): string {
  if (/^\d+$/.test(name) && (name === '0' || !name.startsWith('0'))) {
    return groups[Number(name)] ?? '';
  }
  const index = names.indexOf(name);
  return index < 0 ? '' : (groups[index] ?? '');
}
