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

/** Fenced code in one language, with the playbook that it is in. */
export const fences = (
  language: string,
): readonly { readonly path: string; readonly query: string }[] =>
  playbooks.flatMap(({ path, body }) =>
    [...body.matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))].map(
      ([, query]) => ({ path, query: query!.trim() }),
    ),
  );

/** Exporters by the metrics that they export, as their own sources name them. */
export const exportersOf: ReadonlyMap<string, string> = new Map(
  Object.entries(exporters).flatMap(([exporter, { metrics }]) =>
    metrics.map((metric) => [metric, exporter] as const),
  ),
);
