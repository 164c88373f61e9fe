import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { care as text } from '../../text/english/learn/knowledge.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Section } from '../../kit/parts.tsx';
import { Tag } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';

interface CareOf {
  readonly owner: string;
  readonly review_by: string | null;
  readonly is_stale: boolean;
  readonly votes: { readonly helpful: number; readonly not_helpful: number } | null;
  readonly own_vote: boolean | null;
}

interface Due {
  readonly id: number;
  readonly title: string;
  readonly owner: string;
  readonly is_stale: boolean;
  readonly helpful: number;
  readonly not_helpful: number;
}

/** Owner of a document, whether it is stale, and whether it helped. */
export function Care({ id }: { readonly id: number }) {
  const may = useMay();
  const [isEdited, setEdited] = useState(false);
  const { value, reload } = useData<CareOf>(`/knowledge/docs/${id}/care`);
  if (value === undefined) {
    return null;
  }
  const vote = (helpful: boolean): void =>
    void attempt(() => api.put(`/knowledge/docs/${id}/vote`, { helpful }), text.voted).then(reload);
  return (
    <Section
      title={text.title}
      aside={
        may('knowledge:update') && <Button onClick={() => setEdited(true)}>{text.edit}</Button>
      }
    >
      <p>
        {value.is_stale && <Tag tone="warning">{text.stale}</Tag>}{' '}
        {value.owner === '' ? text.noOwner : say(text.owner, { owner: value.owner })}
        {value.review_by !== null && (
          <span class="soft">
            {' · '}
            {text.reviewBy} <Time at={value.review_by} />
          </span>
        )}
      </p>
      <p>
        {text.helped}{' '}
        <Button pressed={value.own_vote === true} onClick={() => vote(true)}>
          {text.yes}
        </Button>{' '}
        <Button pressed={value.own_vote === false} onClick={() => vote(false)}>
          {text.no}
        </Button>
        {value.votes !== null && (
          <span class="soft">
            {' '}
            {say(text.votes, { yes: value.votes.helpful, no: value.votes.not_helpful })}
          </span>
        )}
      </p>
      {isEdited && (
        <Edited
          id={id}
          care={value}
          onClose={() => {
            setEdited(false);
            reload();
          }}
        />
      )}
    </Section>
  );
}

function Edited({
  id,
  care,
  onClose,
}: {
  readonly id: number;
  readonly care: CareOf;
  readonly onClose: () => void;
}) {
  const [owner, setOwner] = useState(care.owner);
  const [reviewBy, setReviewBy] = useState(care.review_by?.slice(0, 16) ?? '');
  const save = async (): Promise<void> => {
    await api.patch(`/knowledge/docs/${id}/care`, {
      owner,
      review_by: reviewBy === '' ? null : new Date(`${reviewBy}:00Z`).toISOString(),
    });
    onClose();
  };
  return (
    <Dialog title={text.edit} onClose={onClose}>
      <Form onSubmit={save} onCancel={onClose}>
        <TextField label={text.ownerField} value={owner} onInput={setOwner} autoFocus />
        <TextField
          label={text.reviewField}
          hint={text.reviewHint}
          type="datetime-local"
          value={reviewBy}
          onInput={setReviewBy}
        />
      </Form>
    </Dialog>
  );
}

/** Documents that are stale or did not help, for those who write. */
export function DueDocuments() {
  const { items } = useList<Due>('/knowledge/review', { every: 60_000, pageSize: 50 });
  if ((items ?? []).length === 0) {
    return null;
  }
  return (
    <Section title={text.due}>
      <ul class="list">
        {items!.map((doc) => (
          <li key={doc.id}>
            <a href={address(['knowledge', doc.id])}>{doc.title}</a>
            <span class="soft">
              {doc.owner !== '' && say(text.owner, { owner: doc.owner })}{' '}
              {doc.not_helpful > doc.helpful &&
                say(text.votes, { yes: doc.helpful, no: doc.not_helpful })}
            </span>
            {doc.is_stale && <Tag tone="warning">{text.stale}</Tag>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
