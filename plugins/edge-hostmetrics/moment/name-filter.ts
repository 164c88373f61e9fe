import { RE2JS, RE2JSException } from 're2js';

import { errors } from './errors.ts';

const longest = 2_000;
const remembered = 1_024;

/**
 * The defaults of edge.json. To compile a pattern costs the engine that runs those of others six megabytes, a tenth of what an agent
 * may take; these are our own and need none of its care.
 */
const defaults: ReadonlyMap<string, RegExp> = new Map(
  [
    /^\/(dev|proc|run\/credentials\/.+|sys|var\/lib\/docker\/.+|var\/lib\/containers\/storage\/.+)($|\/)/,
    /^(autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|fusectl|hugetlbfs|iso9660|mqueue|nsfs|overlay|proc|procfs|pstore|rpc_pipefs|securityfs|selinuxfs|squashfs|sysfs|tracefs)$/,
    /^(ram|loop|fd|(h|s|v|xv)d[a-z]|nvme\d+n\d+p)\d+$/,
    /^veth/,
  ].map((pattern) => [pattern.source.replaceAll('\\/', '/'), pattern]),
);

/**
 * Returns whether a pattern is one of the built-in defaults, which are recognized by their text and
 * cost nothing.
 */
export const isOwn = (pattern: string): boolean => defaults.has(pattern);

/**
 * Filter of names of this host. The pattern comes from the manager and runs in linear time; results
 * are cached, because the same few names are tested at every measurement.
 */
export class NameFilter {
  readonly #matches: ((name: string) => boolean) | undefined;
  readonly #verdicts = new Map<string, boolean>();

  /** `field` names the setting in the sentence of a refusal; an empty pattern leaves nothing out. */
  constructor(pattern: string, field: string) {
    this.#matches = pattern === '' ? undefined : matching(pattern, field);
  }

  excludes(name: string): boolean {
    if (this.#matches === undefined) {
      return false;
    }
    let verdict = this.#verdicts.get(name);
    if (verdict === undefined) {
      verdict = this.#matches(name.slice(0, 4_096));
      if (this.#verdicts.size >= remembered) {
        this.#verdicts.clear();
      }
      this.#verdicts.set(name, verdict);
    }
    return verdict;
  }
}

function matching(pattern: string, field: string): (name: string) => boolean {
  const own = defaults.get(pattern);
  if (own !== undefined) {
    return (name) => own.test(name);
  }
  const program = compiled(pattern, field);
  return (name) => program.matcher(name).find();
}

function compiled(pattern: string, field: string): RE2JS {
  if (pattern.length > longest) {
    throw errors.pattern_too_long({ field, longest });
  }
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) {
      throw errors.pattern({ field, cause: error.message }, { cause: error });
    }
    throw error;
  }
}
