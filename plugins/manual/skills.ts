import { type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import type { Library } from './library.ts';
import { search } from './search.ts';

const maxText = 16_000;
const longestExcerpt = 600;

const Question = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'What to search for, in a few words: connect slack, policy.yaml, persona fields.',
  }),
  limit: Type.Integer({ minimum: 1, maximum: 10, default: 5 }),
});
const Place = Type.Object({
  page: Type.String({
    pattern: '^[a-z-]{1,60}$',
    description: 'Page, as returned by manual_search.',
  }),
  section: Type.Optional(
    Type.String({ maxLength: 200, description: 'Section of the page; default: the whole page.' }),
  ),
});

const common = {
  scope: 'manager',
  class: 'safe',
  tier: 'core',
  devices: 'none',
  reads: 'none',
} as const;

/** Skills by which agents look up how svc is used, instead of guessing. */
export const manualSkills = (library: Library): readonly ToolSkill[] => [
  toolSkill({
    ...common,
    key: 'manual_search',
    name: 'Search the manual of svc',
    description:
      'Searches the svc manual: how to set up, connect or configure something, and what a field or setting means.',
    params: Question,
    run: async ({ query, limit }) => {
      const hits = search(await library.all(), query).slice(0, limit);
      return {
        found: hits.length,
        sections: hits.map(({ chapter, section }) => ({
          page: chapter.name,
          section: section.id,
          title: `${chapter.title}: ${section.title}`,
          excerpt: section.text.slice(0, longestExcerpt),
          url: `/docs/${chapter.name}#${section.id}`,
        })),
      };
    },
  }),
  toolSkill({
    ...common,
    key: 'manual_read',
    name: 'Read the manual of svc',
    description: 'The text of a page of the manual, or of one of its sections.',
    params: Place,
    run: async ({ page: name, section: id }) => {
      const page = await library.chapter(name);
      const sections = page?.sections.filter((section) => id === undefined || section.id === id);
      if (sections === undefined || sections.length === 0) {
        throw errors.no_section({ page: name, section: id ?? '' });
      }
      const text = sections.map((section) => `${section.title}\n${section.text}`).join('\n\n');
      return {
        page: name,
        title: page!.title,
        text: text.slice(0, maxText),
        ...(text.length > maxText && {
          sections: page!.sections.map((section) => section.id),
          note: 'The page is longer than this: read its sections one by one.',
        }),
      };
    },
  }),
];
