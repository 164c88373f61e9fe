import { globalOptions, type Command, type Option, type Result, printable, table } from 'svc/cli';

/** The help page of one command. */
export function pageOf(name: string, summary: string, command: Command): Result {
  const { options, about, example } = command;
  const usage = usageOf(name, command);
  return {
    data: { name, summary, about, usage, options: described(options), example },
    text: (paint) => {
      const sections = [
        printable(`${summary}.${about === '' ? '' : ` ${about}`}`),
        `${paint.strong('Usage')}\n  ${usage}`,
        `${paint.strong('Options')}\n${indented(optionRows({ ...options, ...globalOptions }))}`,
        `${paint.strong('Example')}\n  ${example}`,
      ];
      return sections.join('\n\n');
    },
  };

  function described(all: Readonly<Record<string, Option>>) {
    return Object.entries(all).map(([option, { value, about: meaning }]) => ({
      name: `--${option}`,
      value: value ?? null,
      about: meaning,
    }));
  }
}

export function usageOf(name: string, { operands, options }: Command): string {
  const optional = Object.entries(options).map(
    ([option, { value }]) => `[--${option}${value === undefined ? '' : ` <${value}>`}]`,
  );
  return ['svc', name, ...operands, ...optional].join(' ');
}

export const optionRows = (options: Readonly<Record<string, Option>>): string[][] =>
  Object.entries(options).map(([name, { value, about, short }]) => [
    `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
    about,
  ]);

export const indented = (rows: readonly (readonly string[])[]): string =>
  table(rows).replaceAll(/^/gm, '  ');
