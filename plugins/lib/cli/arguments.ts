import { parseArgs } from 'node:util';

import { nearest } from 'svc/sdk';
import type { Option } from './command.ts';
import { usageFailure } from './failure.ts';

/** Understood by every command, before or after its name. */
export const globalOptions: Readonly<Record<string, Option>> = {
  data: { value: 'dir', about: 'data folder, instead of SVC_DATA_DIR' },
  json: { about: 'print one JSON document to standard output, errors included' },
  help: { about: 'show help for the command', short: 'h' },
};

export interface Arguments {
  readonly operands: readonly string[];
  readonly options: ReadonlyMap<string, string | true>;
}

/** The words that are neither options nor values of the global ones, with their places. */
export function wordsOf(
  args: readonly string[],
): readonly { readonly word: string; readonly index: number }[] {
  return tokensOf(args, globalOptions).flatMap((token) =>
    token.kind === 'positional' ? [{ word: token.value, index: token.index }] : [],
  );
}

/** The data folder, where the arguments name one. */
export function dataOf(args: readonly string[]): { readonly SVC_DATA_DIR?: string } {
  const named = tokensOf(args, globalOptions).findLast(
    (token) => token.kind === 'option' && token.name === 'data',
  );
  return named?.kind === 'option' && named.value !== undefined ? { SVC_DATA_DIR: named.value } : {};
}

/** Sorts what was typed into operands and options; refuses what `known` does not hold. */
export function readArguments(
  args: readonly string[],
  known: Readonly<Record<string, Option>>,
): Arguments {
  const operands: string[] = [];
  const options = new Map<string, string | true>();
  for (const token of tokensOf(args, known)) {
    if (token.kind === 'positional') {
      operands.push(token.value);
    }
    if (token.kind === 'option') {
      const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
      if (!option) {
        throw usageFailure(
          `unknown option ${token.rawName}${suggestion(
            token.rawName,
            Object.keys(known).map((name) => `--${name}`),
          )}`,
        );
      }
      options.set(token.name, valueOf(token, option));
    }
  }
  return { operands, options };
}

/** `; did you mean …?` when something is close enough. */
export function suggestion(name: string, known: Iterable<string>): string {
  const guess = nearest(name, known);
  return guess === undefined ? '' : `; did you mean "${guess}"?`;
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function valueOf({ rawName, value, inlineValue }: OptionToken, option: Option): string | true {
  if (option.value === undefined) {
    if (value !== undefined) {
      throw usageFailure(`${rawName} is a flag and takes no value`);
    }
    return true;
  }
  // Without this `--data --json` would make a folder called "--json".
  if (value === undefined || value === '' || (inlineValue !== true && value.startsWith('-'))) {
    throw usageFailure(`${rawName} needs a value: ${rawName} <${option.value}>`);
  }
  return value;
}

function tokensOf(args: readonly string[], known: Readonly<Record<string, Option>>) {
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { value, short }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short !== undefined && { short }),
      },
    ]),
  );
  return parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}
