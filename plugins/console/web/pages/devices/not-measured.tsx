import { address } from '../../browser/location.ts';
import { hostViews as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';

/** Says that something is not measured on a host, and how to switch it on. */
export const NotMeasured = ({
  device,
  reason,
  plugin,
}: {
  readonly device: number;
  readonly reason: string;
  /** Plugin of the agent that measures it. */
  readonly plugin: string;
}) => (
  <p class="soft">
    {reason} {say(text.switchOn, { plugin })}{' '}
    <a href={address(['devices', device, 'agents'])}>{text.agents}</a>
  </p>
);
