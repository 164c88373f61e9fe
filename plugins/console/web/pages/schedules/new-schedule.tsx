import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useList } from '../../client/data.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { schedules as text } from '../../text/english/act/schedules.ts';
import { firstWhen, requestOf, WhenFields } from './when-fields.tsx';

type Place = 'timeline' | 'channel' | 'document';

interface Named {
  readonly id: number;
  readonly name: string;
}

/** Form of a new schedule. */
export function NewSchedule({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [name, setName] = useState('');
  const [question, setQuestion] = useState('');
  const [agent, setAgent] = useState('');
  const [when, setWhen] = useState(firstWhen);
  const [place, setPlace] = useState<Place>('document');
  const [channel, setChannel] = useState('');
  const [limit, setLimit] = useState('');
  const agents = useList<{ readonly name: string }>('/agents');
  const channels = useList<Named>('/notification-channels');
  const to = when.trigger !== 'incident' && place === 'timeline' ? 'document' : place;
  const chosen = channel === '' ? channels.items?.[0]?.id : Number(channel);
  const make = async (): Promise<void> => {
    await api.post('/schedules', {
      name,
      question,
      deliver_to: to,
      ...requestOf(when),
      ...(agent !== '' && { agent }),
      ...(to === 'channel' && { channel_ids: [chosen] }),
      ...(limit !== '' && { tokens_per_day: Number(limit) }),
    });
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.add} onClose={onClose}>
      <Form
        submit={text.add}
        onSubmit={make}
        onCancel={onClose}
        disabled={name.trim() === '' || question.trim() === ''}
      >
        <TextField label={text.name} value={name} onInput={setName} autoFocus required />
        <TextField label={text.question} value={question} onInput={setQuestion} rows={3} required />
        <SelectField
          label={text.agent}
          value={agent}
          options={[
            ['', text.anyAgent],
            ...(agents.items ?? []).map((one) => [one.name, one.name] as const),
          ]}
          onChange={setAgent}
        />
        <WhenFields value={when} onChange={setWhen} />
        <SelectField
          label={text.place}
          value={to}
          options={(['document', 'channel', 'timeline'] as const)
            .filter((one) => one !== 'timeline' || when.trigger === 'incident')
            .map((one) => [one, text[one]] as const)}
          onChange={setPlace}
        />
        {to === 'channel' && (
          <SelectField
            label={text.channel}
            value={String(chosen ?? '')}
            options={(channels.items ?? []).map((one) => [String(one.id), one.name] as const)}
            onChange={setChannel}
            hint={channels.items?.length === 0 ? text.noChannels : undefined}
          />
        )}
        <TextField
          label={text.limit}
          value={limit}
          onInput={setLimit}
          type="number"
          hint={text.limitHint}
        />
      </Form>
    </Dialog>
  );
}
