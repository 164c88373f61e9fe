import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useList } from '../../client/data.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { schedules as text } from '../../text/english/act/schedules.ts';

const triggers = ['cron', 'incident', 'deploy', 'agent_offline'] as const;
type Trigger = (typeof triggers)[number];
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
  const [trigger, setTrigger] = useState<Trigger>('cron');
  const [cron, setCron] = useState('0 7 * * 1-5');
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [severity, setSeverity] = useState<'info' | 'warning' | 'critical'>('critical');
  const [service, setService] = useState('');
  const [place, setPlace] = useState<Place>('document');
  const [channel, setChannel] = useState('');
  const [limit, setLimit] = useState('');
  const agents = useList<{ readonly name: string }>('/agents');
  const channels = useList<Named>('/notification-channels');
  const to = trigger !== 'incident' && place === 'timeline' ? 'document' : place;
  const chosen = channel === '' ? channels.items?.[0]?.id : Number(channel);
  const make = async (): Promise<void> => {
    await api.post('/schedules', {
      name,
      question,
      trigger,
      deliver_to: to,
      ...(agent !== '' && { agent }),
      ...(trigger === 'cron' && { cron, time_zone: zone }),
      ...(trigger === 'incident' && { severity_min: severity }),
      ...(trigger === 'deploy' && service !== '' && { service }),
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
        <SelectField
          label={text.trigger}
          value={trigger}
          options={triggers.map((one) => [one, text[one]] as const)}
          onChange={setTrigger}
        />
        {trigger === 'cron' && (
          <>
            <TextField
              label={text.expression}
              value={cron}
              onInput={setCron}
              hint={text.expressionHint}
              mono
            />
            <TextField label={text.zone} value={zone} onInput={setZone} />
          </>
        )}
        {trigger === 'incident' && (
          <SelectField
            label={text.severity}
            value={severity}
            options={(['info', 'warning', 'critical'] as const).map((one) => [one, one] as const)}
            onChange={setSeverity}
          />
        )}
        {trigger === 'deploy' && (
          <TextField
            label={text.service}
            value={service}
            onInput={setService}
            hint={text.serviceHint}
          />
        )}
        <SelectField
          label={text.place}
          value={to}
          options={(['document', 'channel', 'timeline'] as const)
            .filter((one) => one !== 'timeline' || trigger === 'incident')
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
