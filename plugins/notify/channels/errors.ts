import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('notify', {
  no_address: [
    'conflict',
    'the channel has no address: the setting {setting} is empty; set it, or delete the channel',
  ],
  sealed_address: [
    'conflict',
    'the stored address of the channel cannot be decrypted; enter it again',
  ],
  address_of_setting: [
    'conflict',
    'type and address of this channel come from the setting {setting}; change the setting',
  ],
  max_channels: [
    'conflict',
    'the limit of {max} channels is reached; delete one that is not needed',
  ],
  channel_of_setting: [
    'conflict',
    'the channel {name} comes from the setting {setting}; empty the setting before you delete the channel, or disable it',
  ],
  channel_in_use: ['conflict', '{senders} to {name}: {rules}; take the channel out of them first'],
  no_channel: ['not_found', 'there is no notification channel {id}'],
  invalid_channel: ['invalid_argument', '{field} {message}'],
  channel_name_taken: ['conflict', 'there is a channel {name} already'],
});
