import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Said, saidIn, saidInManifest } from './said.ts';
import { projectRoot } from './source.ts';
import { parsed } from './syntax.ts';

const inPlugins = (name: string): string[] =>
  readdirSync(join(projectRoot, 'plugins'))
    .map((plugin) => `plugins/${plugin}/${name}`)
    .filter((path) => existsSync(join(projectRoot, path)));

/** Returns every text that the code and the manifests of the product hold for people. */
export const textsOfProduct = (): readonly Said[] => [
  ...['tsconfig.json', ...inPlugins('web/tsconfig.json')].flatMap(parsed).flatMap(saidIn),
  ...inPlugins('plugin.json').flatMap((path) =>
    saidInManifest(
      path,
      JSON.parse(readFileSync(join(projectRoot, path), 'utf8')) as Record<string, unknown>,
    ),
  ),
];

/** A paragraph, list item or table row of a page. */
export interface Passage {
  readonly medium: 'docs' | 'playbook' | 'agent';
  readonly place: string;
  readonly text: string;
}

const pages: readonly (readonly [Passage['medium'], readonly string[]])[] = [
  ['docs', ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs']],
  ['playbook', ['vault']],
  ['agent', ['agents', 'skills']],
];

/** Returns the passages of the pages that are written by hand. */
export const passagesOfPages = (): readonly Passage[] =>
  pages.flatMap(([medium, places]) =>
    places.flatMap(markdownIn).flatMap((path) =>
      readFileSync(join(projectRoot, path), 'utf8')
        .replaceAll(/^```[^]*?^```/gm, '')
        .split(/\n{2,}|\n(?=[-|*] )/)
        .map((text) => ({ medium, place: path, text: text.trim() }))
        .filter(({ text }) => text.split(/\s+/).length > 4),
    ),
  );

function markdownIn(place: string): readonly string[] {
  const path = join(projectRoot, place);
  return place.endsWith('.md')
    ? [place]
    : readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.md') && !/(?:commands|api-report)\.md$/.test(file))
        .map((file) => `${place}/${file}`);
}
