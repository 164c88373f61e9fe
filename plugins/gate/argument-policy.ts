import { RE2JS } from 're2js';
import type { GateQuestion } from 'svc/contracts/gate';
import { messageOf, type Settings } from 'svc/sdk';

type Target = NonNullable<GateQuestion['target']>;

/** Policy in settings about the arguments and the target device of a call. */
export class ArgumentPolicy {
  readonly #settings: Pick<Settings, 'get'>;
  /**
   * Compiled patterns by the list they came from, which is a new object after the setting changes.
   */
  readonly #compiled = new WeakMap<readonly string[], readonly RE2JS[] | string>();

  constructor(settings: Pick<Settings, 'get'>) {
    this.#settings = settings;
  }

  /** Why the call is refused, or undefined. */
  refusal({ tool, args = {}, target }: GateQuestion): string | undefined {
    return (
      this.#deniedArgument(tool.key, args) ??
      (tool.class === 'safe' || target === undefined ? undefined : this.#deniedTarget(target))
    );
  }

  #deniedArgument(key: string, args: Readonly<Record<string, unknown>>): string | undefined {
    const patterns = this.#patterns();
    if (typeof patterns === 'string') {
      return patterns;
    }
    const given = patterns.length === 0 ? [] : [...argumentLines(key, args)];
    const denied = patterns.find((pattern) => given.some((line) => pattern.matcher(line).find()));
    return (
      denied &&
      `the arguments of ${key} match ${JSON.stringify(denied.pattern())} of the setting agent.denied_arguments`
    );
  }

  #patterns(): readonly RE2JS[] | string {
    const texts = this.#settings.get<readonly string[]>('agent.denied_arguments');
    const known = this.#compiled.get(texts) ?? compile(texts);
    this.#compiled.set(texts, known);
    return known;
  }

  #deniedTarget({ device_id: id, labels }: Target): string | undefined {
    const carries = (label: string): boolean => {
      const equals = label.indexOf('=');
      return labels[label.slice(0, equals)] === label.slice(equals + 1);
    };
    const shield = this.#settings.get<readonly string[]>('agent.protected_labels').find(carries);
    if (shield !== undefined) {
      return `device ${id} is protected by its label ${shield}: no tool changes it; see the setting agent.protected_labels`;
    }
    const allowed = this.#settings.get<readonly string[]>('agent.write_targets');
    const isAllowed =
      allowed.length === 0 ||
      allowed.some((one) => (one.includes('=') ? carries(one) : one === `device:${id}`));
    return isAllowed
      ? undefined
      : `device ${id} is not among the devices that tools may change; see the setting agent.write_targets`;
  }
}

/**
 * Compiles all patterns, or returns what is wrong with one: an unreadable rule must not let
 * anything pass.
 */
function compile(texts: readonly string[]): readonly RE2JS[] | string {
  const patterns: RE2JS[] = [];
  for (const text of texts) {
    try {
      patterns.push(RE2JS.compile(text, RE2JS.DOTALL));
    } catch (error) {
      return `the setting agent.denied_arguments has ${JSON.stringify(text)}, which is not a valid RE2 pattern (${messageOf(error)}); correct it`;
    }
  }
  return patterns;
}

/** Yields `tool.name=value` for every value, at any depth. */
function* argumentLines(path: string, value: unknown): Iterable<string> {
  if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      yield* argumentLines(`${path}.${name}`, inner);
    }
  } else {
    yield `${path}=${String(value)}`;
  }
}
