import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { address, goTo } from '../../browser/location.ts';
import { document as text } from '../../text/english/learn/knowledge.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Markdown } from '../../kit/markdown.tsx';
import { Button, Empty, Head, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { Care } from './care.tsx';

/** Title and tags of a file: they are shown as such, not as its text. A note or an answer of a model is shown whole. */
const header = /^\uFEFF?---\r?\n(?:[\w-]+:.*\n|[ \t-].*\n|\r?\n){1,60}?---(?:\r?\n|$)/;

export interface Doc {
  readonly id: number;
  readonly title: string;
  readonly path: string;
  readonly source: 'manual' | 'upload' | 'repo' | 'vault';
  readonly tags: readonly string[];
  readonly version: number;
  readonly size_bytes: number;
  readonly updated_at: string;
  readonly content?: string;
}

/** The document at a path: rules and reports name a playbook by that. */
export function DocumentAt({ path }: { readonly path: string }) {
  const { value, error, reload } = useData<{ items: readonly Doc[] }>('/knowledge/docs', {
    query: { path },
  });
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  if (value === undefined) {
    return <Skeleton lines={12} />;
  }
  const [doc] = value.items;
  return doc ? (
    <DocumentPage id={String(doc.id)} />
  ) : (
    <Empty title={say(text.notFound, { path })}>{text.notFoundNote}</Empty>
  );
}

/** One document, read or written. What a repository brings is changed there. */
export function DocumentPage({ id }: { readonly id: string }) {
  const may = useMay();
  const [isEdited, setEdited] = useState(false);
  const { value, error, reload } = useData<Doc>(`/knowledge/docs/${encodeURIComponent(id)}`);
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  if (value === undefined) {
    return <Skeleton lines={12} />;
  }
  const remove = (): void =>
    void attempt(() => api.delete(`/knowledge/docs/${value.id}`), text.deleted).then(
      (done) => done && goTo(address(['knowledge'])),
    );
  const close = (): void => {
    setEdited(false);
    reload();
  };
  return (
    <>
      <Head title={value.title} note={value.path}>
        {may('knowledge:update') && value.source !== 'repo' && !isEdited && (
          <Button onClick={() => setEdited(true)}>
            {value.source === 'vault' ? text.adopt : text.edit}
          </Button>
        )}
        {may('knowledge:delete') && isOwn(value) && (
          <Button kind="danger" icon="trash" onClick={remove}>
            {text.delete}
          </Button>
        )}
      </Head>
      {isEdited ? (
        <Edited doc={value} onClose={close} />
      ) : (
        <Markdown text={(value.content ?? '').replace(header, '')} />
      )}
      <Care id={value.id} />
      <Versions key={value.version} id={value.id} />
    </>
  );
}

/**
 * Returns whether a document can be deleted here; one from a repository or the vault is deleted
 * there.
 */
const isOwn = ({ source }: Doc): boolean => source === 'manual' || source === 'upload';

/**
 * Editor of a document. Saves with the version that was read: if another person changed it
 * meanwhile, the save is refused, and nothing is lost.
 */
function Edited({ doc, onClose }: { readonly doc: Doc; readonly onClose: () => void }) {
  const [title, setTitle] = useState(doc.title);
  const [content, setContent] = useState(doc.content ?? '');
  const save = async (): Promise<void> => {
    await api.patch(`/knowledge/docs/${doc.id}`, {
      title,
      content,
      version: doc.version,
      ...(doc.source === 'vault' && { adopt: true }),
    });
    onClose();
  };
  return (
    <Form onSubmit={save} onCancel={onClose}>
      {doc.source === 'vault' && <p class="soft">{text.adoptNote}</p>}
      <TextField label={text.name} value={title} onInput={setTitle} required />
      <TextField label={text.content} value={content} onInput={setContent} rows={28} mono />
    </Form>
  );
}

interface Version {
  readonly version: number;
  readonly changed_by: string;
  readonly changed_at: string;
}

function Versions({ id }: { readonly id: number }) {
  const { value } = useData<{ items: readonly Version[] }>(`/knowledge/docs/${id}/versions`, {
    query: { limit: 20 },
  });
  return (
    <Section title={text.versions}>
      <ul class="list">
        {value?.items.map(({ version: number, changed_by: by, changed_at: at }) => (
          <li key={number}>
            <span>{text.of.replace('{version}', String(number))}</span>
            <span>{by}</span>
            <span class="soft">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
