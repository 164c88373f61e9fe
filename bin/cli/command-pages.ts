import { globalOptions, type Command, exitCodes } from 'svc/cli';
import type { Catalogue } from './catalogue.ts';
import { optionRows, usageOf } from './page.ts';

/** Renders every command as one page of markdown. */
export async function commandPages(catalogue: Catalogue): Promise<string> {
  const sections = await Promise.all(
    catalogue.names.map(async (name) => {
      return section(name, catalogue.entry(name)!.summary, await catalogue.load(name));
    }),
  );
  return `<!-- Written by \`npm run command-pages\`; never edited by hand. -->

# Commands

All commands, as \`svc help COMMAND\` prints them.

## Global options

${tableOf(optionRows(globalOptions))}

## Exit codes

${tableOf(Object.entries(exitCodes))}

${sections.join('\n')}`;
}

function section(name: string, summary: string, command: Command): string {
  const { about, options, example } = command;
  const rows = optionRows(options);
  return `## svc ${name}

${summary}.${about === '' ? '' : ` ${about}`}

\`\`\`sh
${usageOf(name, command)}
${example}
\`\`\`
${rows.length === 0 ? '' : `\n${tableOf(rows)}\n`}`;
}

const tableOf = (rows: readonly (readonly string[])[]): string =>
  [
    '| | |',
    '| --- | --- |',
    ...rows.map(
      ([name, meaning]) => `| \`${name}\` | ${meaning!.replaceAll('|', String.raw`\|`)} |`,
    ),
  ].join('\n');
