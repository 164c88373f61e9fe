import {
  Banner,
  Board,
  BuildInfo,
  byteRoute,
  type Call,
  definePlugin,
  Plugins,
  type RouteDeclaration,
} from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { Library } from './library.ts';
import { chapterPage, foundPage, policy } from './manual-page.ts';
import { search } from './search.ts';
import { ChapterStore } from './chapter-store.ts';
import { securityTxtRoute } from './security-txt.ts';
import { manualSkills } from './skills.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const board = ctx.services.use(Board);
    const plugins = ctx.services.use(Plugins);
    const build = ctx.services.use(BuildInfo);
    const chapters = new ChapterStore(build.root, plugins);
    // The page is for everyone: what packs are installed here is not.
    const settings = () =>
      board
        .list()
        .filter(({ owner }) =>
          plugins.list().every(({ id, kind }) => id !== owner || kind !== 'pack'),
        );
    const library = new Library(chapters, settings);
    manualSkills(library).forEach((skill) => ctx.skills.add(skill));
    ctx.http.routes([
      ...manualRoutes(chapters, library),
      securityTxtRoute({
        settings: ctx.settings,
        clock: ctx.clock,
        publicUrl: () => build.publicUrl.replace(/\/$/, ''),
      }),
    ]);
    ctx.extend.contribute(Banner, 'manual', { line: (url) => `Manual   ${url}/docs` });
  },
});

const Name = Type.Object({
  page: Type.String({ maxLength: 60, pattern: '^[a-z-]+$', examples: ['serving'] }),
});
const Words = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: 'Question, or words to search for',
      examples: ['backup'],
    }),
  ),
});

const html = { method: 'GET', access: 'public', produces: 'text/html; charset=utf-8' } as const;

const manualRoutes = (chapters: ChapterStore, library: Library): readonly RouteDeclaration[] => [
  byteRoute({
    ...html,
    path: '/docs',
    summary: 'Get the first page of the manual',
    handle: (call) => chapter(call, library, 'start', ''),
  }),
  byteRoute({
    ...html,
    path: '/docs/{page}',
    params: Name,
    query: Words,
    summary: 'Get a page of the manual; "search" searches all pages',
    errors: ['not_found'],
    async handle(call) {
      if (call.params.page !== 'search') {
        return await chapter(call, library, call.params.page, '../');
      }
      asPage(call);
      const words = call.query.q ?? '';
      return foundPage(words, search(await library.all(), words), '../');
    },
  }),
  byteRoute({
    method: 'GET',
    path: '/docs/pictures/{file}',
    access: 'public',
    params: Type.Object({
      file: Type.String({ maxLength: 70, examples: ['overview-1280-light.png'] }),
    }),
    summary: 'Get an image from the manual',
    produces: 'image/png',
    errors: ['not_found'],
    async handle({ params, setHeader }) {
      const bytes = await chapters.picture(params.file);
      if (bytes === undefined) {
        throw errors.no_picture({ file: params.file });
      }
      setHeader('cache-control', 'public, max-age=3600');
      return bytes;
    },
  }),
];

async function chapter(
  call: Pick<Call, 'setHeader'>,
  library: Library,
  name: string,
  root: string,
): Promise<string> {
  const found = await library.chapter(name);
  if (found === undefined) {
    throw errors.no_page({ name });
  }
  asPage(call);
  return chapterPage(name, found, root);
}

function asPage({ setHeader }: Pick<Call, 'setHeader'>): void {
  setHeader('content-security-policy', policy);
}
