import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse as parseYaml } from 'yaml';

import { filesIn, projectRoot } from '../house/source.ts';
import exporters from './exporter-metrics.json' with { type: 'json' };

export interface Playbook {
  readonly path: string;
  readonly text: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly body: string;
}

/** Playbooks of the vault, by path. */
export const playbooks: readonly Playbook[] = filesIn('vault')
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(projectRoot, path), 'utf8');
    const [, header = '', body = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];
    const { title, tags } = (parseYaml(header) ?? {}) as { title?: string; tags?: string[] };
    return { path, text, title: title ?? '', tags: tags ?? [], body };
  });

/** Text of a markdown file below its header. */
export type Page = Pick<Playbook, 'path' | 'body'>;

const pagesIn = (folder: string): readonly Page[] =>
  filesIn(folder)
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(projectRoot, path), 'utf8');
      return { path, body: text.slice(text.indexOf('\n---\n') + 5) };
    });

/** Guides of agents, and the system prompts of personas. */
export const guides = pagesIn('skills');
export const prompts = pagesIn('agents');

/** Fenced code in one language, with the playbook or guide that it is in. */
export const fences = (language: string): readonly (Page & { readonly query: string })[] =>
  [...playbooks, ...guides].flatMap(({ path, body }) =>
    [...body.matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))].map(
      ([, query]) => ({ path, body, query: query!.trim() }),
    ),
  );

/** Exporters by the metrics that they export, as their own sources name them. */
export const exportersOf: ReadonlyMap<string, string> = new Map(
  Object.entries(exporters).flatMap(([exporter, { metrics }]) =>
    metrics.map((metric) => [metric, exporter] as const),
  ),
);
