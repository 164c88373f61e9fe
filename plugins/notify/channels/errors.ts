import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  no_address: [
    'conflict',
    'The channel has no address: the setting {setting} is empty; set it, or delete the channel.',
  ],
  sealed_address: [
    'conflict',
    'The stored address of the channel cannot be decrypted; enter it again.',
  ],
  address_of_setting: [
    'conflict',
    'The type and address of this channel come from the setting {setting}; change the setting instead.',
  ],
  max_channels: [
    'conflict',
    'The limit of {max} channels has been reached; delete some that you no longer need.',
  ],
  channel_of_setting: [
    'conflict',
    'The channel {name} comes from the setting {setting}; clear the setting before you delete the channel, or disable the channel instead.',
  ],
  channel_in_use: ['conflict', '{senders} to {name}: {rules}; remove the channel from them first.'],
  no_channel: ['not_found', 'There is no notification channel {id}.'],
  invalid_channel: ['invalid_argument', '{field} {message}'],
  channel_name_taken: ['conflict', 'A channel named {name} already exists.'],
});
