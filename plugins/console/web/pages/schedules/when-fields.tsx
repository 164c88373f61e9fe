import { SelectField, TextField } from '../../kit/form.tsx';
import { schedules as text } from '../../text/english/act/schedules.ts';

const triggers = ['cron', 'incident', 'deploy', 'agent_offline'] as const;
const severities = ['info', 'warning', 'critical'] as const;

/** Start of the runs of a schedule, as it is being filled in. */
export interface When {
  readonly trigger: (typeof triggers)[number];
  readonly cron: string;
  readonly zone: string;
  readonly severity: (typeof severities)[number];
  readonly service: string;
}

/** Returns a start on working days at seven, by the clock of the browser. */
export const firstWhen = (): When => ({
  trigger: 'cron',
  cron: '0 7 * * 1-5',
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  severity: 'critical',
  service: '',
});

/** Returns the fields of the request that its trigger takes. */
export function requestOf({ trigger, cron, zone, severity, service }: When): object {
  return {
    trigger,
    ...(trigger === 'cron' && { cron, time_zone: zone }),
    ...(trigger === 'incident' && { severity_min: severity }),
    ...(trigger === 'deploy' && service !== '' && { service }),
  };
}

export function WhenFields({
  value,
  onChange,
}: {
  readonly value: When;
  readonly onChange: (value: When) => void;
}) {
  const { trigger, cron, zone, severity, service } = value;
  return (
    <>
      <SelectField
        label={text.trigger}
        value={trigger}
        options={triggers.map((one) => [one, text[one]] as const)}
        onChange={(chosen) => onChange({ ...value, trigger: chosen })}
      />
      {trigger === 'cron' && (
        <>
          <TextField
            label={text.expression}
            value={cron}
            onInput={(typed) => onChange({ ...value, cron: typed })}
            hint={text.expressionHint}
            mono
          />
          <TextField
            label={text.zone}
            value={zone}
            onInput={(typed) => onChange({ ...value, zone: typed })}
          />
        </>
      )}
      {trigger === 'incident' && (
        <SelectField
          label={text.severity}
          value={severity}
          options={severities.map((one) => [one, one] as const)}
          onChange={(chosen) => onChange({ ...value, severity: chosen })}
        />
      )}
      {trigger === 'deploy' && (
        <TextField
          label={text.service}
          value={service}
          onInput={(typed) => onChange({ ...value, service: typed })}
          hint={text.serviceHint}
        />
      )}
    </>
  );
}
