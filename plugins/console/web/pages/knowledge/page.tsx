import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { address, usePlace, useParam } from '../../browser/location.ts';
import { knowledge as text } from '../../text/english/learn/knowledge.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { Tag } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { DueDocuments } from './care.tsx';
import { SearchQuality } from './search-quality.tsx';
import { DocumentAt, DocumentPage, type Doc } from './document.tsx';

interface Folder {
  readonly path: string;
  readonly name: string;
  readonly total: number;
}

interface Hit {
  readonly doc_id: number;
  readonly title: string;
  readonly path: string;
  readonly heading: string;
  readonly chunk: number;
  readonly highlights: readonly {
    readonly text: string;
    readonly marks: readonly (readonly number[])[];
  }[];
}

export default function Knowledge() {
  const { parts } = usePlace();
  const [path] = useParam('read');
  if (parts[1] !== undefined) {
    return <DocumentPage key={parts[1]} id={parts[1]} />;
  }
  return path === '' ? <Library /> : <DocumentAt key={path} path={path} />;
}

function Library() {
  const may = useMay();
  const [q, setQ] = useParam('q');
  const [path, setPath] = useParam('path');
  const [isNew, setNew] = useState(false);
  const documents = useList<Doc>('/knowledge/docs', {
    query: { path_prefix: path },
    every: 30_000,
  });
  const folders = useList<Folder>('/knowledge/paths', { every: 60_000, pageSize: 200 });
  const sync = (): void =>
    void attempt(() => api.post('/knowledge/vault/sync'), text.synced).then(documents.reload);
  return (
    <>
      <Head title={text.title}>
        {may('knowledge:sync') && <Button onClick={sync}>{text.sync}</Button>}
        {may('knowledge:create') && <Upload folder={path} done={documents.reload} />}
        {may('knowledge:create') && (
          <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
            {text.add}
          </Button>
        )}
      </Head>
      <input
        class="wide"
        type="search"
        value={q}
        placeholder={text.search}
        aria-label={text.search}
        onInput={(event) => setQ(event.currentTarget.value)}
      />
      {q.trim() !== '' ? (
        <Found q={q} path={path} />
      ) : folders.isFirst ? (
        <Skeleton lines={8} />
      ) : (
        <div class="columns narrow-first">
          <Folders of={folders.items ?? []} path={path} onPick={setPath} />
          <div>
            <Table
              label={text.title}
              rows={documents.items}
              asked={documents}
              columns={columns}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => address(['knowledge', id])}
              total={documents.total}
              more={documents.more}
              empty={<Empty title={text.none}>{text.noneNote}</Empty>}
            />
          </div>
        </div>
      )}
      {q.trim() === '' && may('knowledge:update') && <DueDocuments />}
      {q.trim() === '' && may('knowledge:create') && <SearchQuality />}
      {isNew && <NewDocument folder={path} onClose={() => setNew(false)} />}
    </>
  );
}

const columns: readonly Column<Doc>[] = [
  {
    head: text.document,
    cell: ({ title, path }) => (
      <span class="cut">
        {title} <span class="soft">{path}</span>
      </span>
    ),
  },
  { head: text.source, width: '90px', rank: 2, cell: ({ source }) => <Tag>{source}</Tag> },
  {
    head: text.size,
    width: '90px',
    rank: 1,
    numeric: true,
    cell: ({ size_bytes: bytes }) => figure(bytes, 'bytes'),
  },
  { head: text.changed, width: '110px', rank: 1, cell: ({ updated_at: at }) => <Time at={at} /> },
];

interface FoldersProps {
  readonly of: readonly Folder[];
  readonly path: string;
  readonly onPick: (path: string) => void;
}

/** Above the documents where it is narrow: known before them, so that they are not pushed away. */
function Folders({ of, path, onPick }: FoldersProps) {
  return (
    <Section title={text.folder}>
      <ul class="list">
        <li>
          <button
            type="button"
            class="rowlink"
            aria-pressed={path === ''}
            onClick={() => onPick('')}
          >
            {text.all}
          </button>
        </li>
        {of.map(({ path: at, total }) => (
          <li key={at}>
            <button
              type="button"
              class="rowlink"
              aria-pressed={at === path}
              onClick={() => onPick(at)}
            >
              {at}
            </button>
            <span class="soft">{total}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Found({ q, path }: { readonly q: string; readonly path: string }) {
  const { value, error, reload } = useData<{ items: readonly Hit[]; fits: boolean }>(
    '/knowledge/search',
    {
      query: { q, path_prefix: path, limit: 20, rerank: false },
    },
  );
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  return (
    <Section title={text.found}>
      {value?.items.length === 0 && <Empty title={text.notFound}>{text.notFoundNote}</Empty>}
      {value !== undefined && value.items.length > 0 && !value.fits && <p>{text.nothingFits}</p>}
      <ul class="list tall">
        {value?.items.map((hit) => (
          <li key={`${hit.doc_id} ${hit.chunk}`}>
            <a href={address(['knowledge', hit.doc_id])}>
              {hit.title}
              {hit.heading !== '' && hit.heading !== hit.title && (
                <span class="soft"> › {hit.heading}</span>
              )}
            </a>
            {hit.highlights.slice(0, 2).map((highlight) => (
              <p key={highlight.text} class="soft">
                <Marked {...highlight} />
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The text with its marks, each `[from, to)`, ascending. */
function Marked({ text: whole, marks }: Hit['highlights'][number]) {
  const pieces = marks.flatMap(([from = 0, to = 0], at) => [
    whole.slice(marks[at - 1]?.[1] ?? 0, from),
    <mark key={from}>{whole.slice(from, to)}</mark>,
  ]);
  return (
    <>
      {pieces}
      {whole.slice(marks.at(-1)?.[1] ?? 0)}
    </>
  );
}

function Upload({ folder, done }: { readonly folder: string; readonly done: () => void }) {
  const send = (file: File): void => {
    const isExport = /\.zip$/i.test(file.name);
    const form = new FormData();
    form.append('file', file);
    if (folder !== '') {
      form.append('path', isExport ? folder : `${folder}/${file.name}`);
    }
    void attempt(
      async () => {
        await api.post(isExport ? '/knowledge/import' : '/knowledge/upload', form);
        done();
      },
      say(isExport ? text.imported : text.uploaded, { name: file.name }),
    );
  };
  return (
    <label class="button button-plain">
      {text.upload}
      <input
        class="hidden-text"
        type="file"
        accept=".md,.txt,.pdf,.docx,.zip"
        onChange={(event) => {
          [...(event.currentTarget.files ?? [])].forEach(send);
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}

function NewDocument({
  folder,
  onClose,
}: {
  readonly folder: string;
  readonly onClose: () => void;
}) {
  const [path, setPath] = useState(folder === '' ? '' : `${folder}/`);
  const [content, setContent] = useState('');
  const save = async (): Promise<void> => {
    await api.post('/knowledge/docs', { path, content });
    onClose();
  };
  return (
    <Dialog title={text.add} onClose={onClose} wide>
      <Form onSubmit={save} onCancel={onClose}>
        <TextField label={text.path} value={path} onInput={setPath} mono required autoFocus />
        <TextField label={text.content} value={content} onInput={setContent} rows={16} mono />
      </Form>
    </Dialog>
  );
}
