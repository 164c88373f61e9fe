import { useMemo, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { address } from '../../browser/location.ts';
import { useUser } from '../../client/session.ts';
import { apiOperation as text } from '../../text/english/administration/api.ts';
import { say } from '../../text/words.ts';
import { Form, Field, Segments, SelectField, TextField } from '../../kit/form.tsx';
import { Copyable, Head, Section } from '../../kit/parts.tsx';
import { Answer, AnswerView } from './answer.tsx';
import { accessOf, type ApiDocument, type FieldShape, type Operation, toneOf } from './document.ts';
import { bodyOf, curlLine, type Draft, type Plan, planOf, prepared } from './request.ts';

/** One operation of the API, to be tried with the session of the reader. */
export function OperationPage({
  operation,
  document,
}: {
  readonly operation: Operation;
  readonly document: ApiDocument;
}) {
  const plan = useMemo(() => planOf(operation, document), [operation, document]);
  const [draft, setDraft] = useState(plan.draft);
  const [file, setFile] = useState<File>();
  const [answer, setAnswer] = useState<Answer>();
  const user = useUser();
  const { method, path, summary, description } = operation;
  const send = async (): Promise<void> => {
    const { query, headers, body, path: filled } = prepared(operation, plan, draft);
    answer?.stop();
    const next = new Answer();
    setAnswer(next);
    const blob = file ?? (body === undefined ? undefined : new Blob([body]));
    await next.hear((signal) =>
      api.raw(method, `/${filled}`, { query, headers, signal, ...(blob && { body: blob }) }),
    );
  };
  return (
    <>
      <p class="soft">
        <a href={address(['api'])}>{text.all}</a>
      </p>
      <Head
        title={summary}
        note={say(text.access, { access: accessOf(operation), plugin: operation['x-svc-plugin'] })}
      />
      <p class="operation">
        <b class={`method ${toneOf(method)}`}>{method}</b> <code>{path}</code>
      </p>
      {description !== undefined && <p>{description}</p>}
      <Form
        submit={say(text.send, { name: user.display_name })}
        kind={method === 'DELETE' ? 'danger' : 'primary'}
        onSubmit={send}
      >
        <Parameters plan={plan} draft={draft} onChange={setDraft} />
        {plan.type !== undefined && (
          <Body plan={plan} draft={draft} onChange={setDraft} onFile={setFile} />
        )}
        {method !== 'GET' && <p class="hint">{text.changes}</p>}
      </Form>
      {answer && <AnswerView key={method} answer={answer} />}
      <Curl operation={operation} plan={plan} draft={draft} />
    </>
  );
}

interface PartProps {
  readonly plan: Plan;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

function Parameters({ plan: { parameters }, draft, onChange }: PartProps) {
  return (
    <>
      {parameters.map(({ parameter: { name, schema }, field }) => (
        <Control
          key={name}
          field={{
            ...field,
            kind: field.kind === 'json' ? 'text' : field.kind,
            hint: [field.hint, [schema.type].flat().includes('array') ? text.list : '']
              .filter(Boolean)
              .join('; '),
          }}
          value={draft.parameters[name] ?? ''}
          onInput={(value) =>
            onChange({ ...draft, parameters: { ...draft.parameters, [name]: value } })
          }
        />
      ))}
    </>
  );
}

function Body({
  plan: { fields, type },
  draft,
  onChange,
  onFile,
}: PartProps & { readonly onFile: (file: File | undefined) => void }) {
  if (fields === undefined) {
    return (
      <>
        <TextField
          label={`${text.body} (${type})`}
          mono
          rows={8}
          value={draft.raw}
          onInput={(raw) => onChange({ ...draft, raw })}
        />
        <Field label={text.file}>
          {(ids) => (
            <input
              {...ids}
              type="file"
              onChange={({ currentTarget: { files } }) => onFile(files?.[0])}
            />
          )}
        </Field>
      </>
    );
  }
  const choose = (way: 'form' | 'json'): void =>
    onChange({
      ...draft,
      isRaw: way === 'json',
      ...(way === 'json' &&
        !draft.isRaw && { raw: JSON.stringify(readable(fields, draft), null, 2) }),
    });
  return (
    <>
      <Segments
        label={text.how}
        value={draft.isRaw ? 'json' : 'form'}
        onChange={choose}
        options={[
          ['form', text.asForm],
          ['json', text.asJson],
        ]}
      />
      {draft.isRaw ? (
        <TextField
          label={text.body}
          mono
          rows={12}
          value={draft.raw}
          onInput={(raw) => onChange({ ...draft, raw })}
        />
      ) : (
        fields.map((field) => (
          <Control
            key={field.name}
            field={field}
            value={draft.body[field.name] ?? ''}
            onInput={(value) =>
              onChange({ ...draft, body: { ...draft.body, [field.name]: value } })
            }
          />
        ))
      )}
    </>
  );
}

/**
 * Returns the body as far as it is valid; incomplete fields are left out, and sending reports what
 * is wrong.
 */
function readable(fields: readonly FieldShape[], { body }: Draft): object {
  return Object.assign(
    {},
    ...fields.map((field) => {
      try {
        return bodyOf([field], body);
      } catch {
        return {};
      }
    }),
  ) as object;
}

function Control({
  field: { name, kind, choices, isRequired, hint },
  value,
  onInput,
}: {
  readonly field: FieldShape;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  const label = isRequired ? `${name} *` : name;
  const note = hint === '' ? undefined : hint;
  return kind === 'choice' ? (
    <SelectField
      label={label}
      hint={note}
      value={value}
      onChange={onInput}
      options={[
        ...(isRequired && value !== '' ? [] : [['', '–'] as const]),
        ...choices.map((choice) => [choice, choice] as const),
      ]}
    />
  ) : (
    <TextField
      label={label}
      hint={note}
      value={value}
      onInput={onInput}
      type={kind === 'number' ? 'number' : 'text'}
      mono={kind === 'json'}
      rows={kind === 'json' ? 2 : undefined}
      autoComplete="off"
    />
  );
}

function Curl({
  operation,
  plan,
  draft,
}: {
  readonly operation: Operation;
  readonly plan: Plan;
  readonly draft: Draft;
}) {
  let line: string;
  try {
    line = curlLine(operation, prepared(operation, plan, draft));
  } catch (error) {
    line = (error as Error).message;
  }
  return (
    <Section title={text.curl} aside={<span class="soft">{text.curlNote}</span>}>
      <Copyable value={line} />
    </Section>
  );
}
