import { useState } from 'preact/hooks';

import { boardSettings as text } from '../../../text/english/watch/board-editor.ts';
import { Dialog } from '../../../kit/dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../../../kit/form.tsx';
import { Button } from '../../../kit/parts.tsx';
import type { Draft, DraftVariable } from './draft.ts';

interface SettingsProps {
  readonly draft: Draft;
  readonly onClose: () => void;
  readonly onDone: (changes: Pick<Draft, 'title' | 'variables'>) => void;
}

const types = ['query', 'custom', 'interval', 'text', 'constant'] as const;
const isListed = (type: string): boolean =>
  type === 'custom' || type === 'interval' || type === 'constant';

/** Title of a dashboard, and the variables that its queries use. */
export function BoardSettings({ draft, onClose, onDone }: SettingsProps) {
  const [title, setTitle] = useState(draft.title ?? '');
  const [variables, setVariables] = useState(draft.variables);
  return (
    <Dialog title={text.title} onClose={onClose} wide>
      <Form
        submit={text.apply}
        disabled={title.trim() === '' || variables.some(({ name }) => name === '')}
        onCancel={onClose}
        onSubmit={() => {
          onDone({ title: title.trim(), variables });
          return Promise.resolve();
        }}
      >
        <TextField label={text.name} value={title} onInput={setTitle} autoFocus required />
        <h3>{text.variables}</h3>
        <p class="hint">{text.note}</p>
        {variables.map((variable, at) => (
          <VariableFields
            key={at}
            variable={variable}
            onChange={(next) => setVariables(variables.with(at, next))}
            onRemove={() => setVariables(variables.toSpliced(at, 1))}
          />
        ))}
        <p>
          <Button
            icon="plus"
            onClick={() => setVariables([...variables, { name: '', type: 'query' }])}
          >
            {text.add}
          </Button>
        </p>
      </Form>
    </Dialog>
  );
}

interface VariableProps {
  readonly variable: DraftVariable;
  readonly onChange: (variable: DraftVariable) => void;
  readonly onRemove: () => void;
}

function VariableFields({ variable, onChange, onRemove }: VariableProps) {
  const { name, type, query = '', values = [], multi = false, all = false } = variable;
  const [listed, setListed] = useState(values.join(', '));
  const mayChoose = type === 'query' || type === 'custom';
  return (
    <fieldset class="board-variable">
      <div class="field-row">
        <TextField
          label={text.variable}
          value={name}
          onInput={(next) => onChange({ ...variable, name: next })}
          mono
        />
        <SelectField
          label={text.type}
          value={type}
          options={[...new Set<string>([...types, type])].map(
            (one) =>
              [
                one,
                Object.hasOwn(text, one) ? (text as Record<string, string>)[one]! : one,
              ] as const,
          )}
          // What another type has would have no effect in this one.
          onChange={(next) => onChange({ name, type: next })}
        />
      </div>
      {type === 'query' && (
        <TextField
          label={text.definition}
          value={query}
          placeholder={text.example}
          onInput={(next) => onChange({ ...variable, query: next })}
          mono
        />
      )}
      {isListed(type) && (
        <TextField
          label={text.values}
          value={listed}
          onInput={(next) => {
            setListed(next);
            const found = next.split(',').map((one) => one.trim());
            onChange({ ...variable, values: found.filter((one) => one !== '') });
          }}
        />
      )}
      {type === 'text' && (
        <TextField
          label={text.initial}
          value={variable.default ?? ''}
          onInput={(next) => onChange({ ...variable, default: next })}
        />
      )}
      {mayChoose && (
        <>
          <CheckField
            label={text.multi}
            value={multi}
            onChange={(next) => onChange({ ...variable, multi: next })}
          />
          <CheckField
            label={text.all}
            value={all}
            onChange={(next) => onChange({ ...variable, all: next })}
          />
        </>
      )}
      <Button kind="danger" icon="trash" onClick={onRemove}>
        {text.remove}
      </Button>
    </fieldset>
  );
}
