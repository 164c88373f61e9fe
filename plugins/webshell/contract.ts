import { defineService, type Principal } from 'svc/sdk';

/** What the room of sessions asks when somebody shows a ticket instead of a token. */
export interface TicketDesk {
  /** Spends the ticket: whoever shows it a second time is nobody, whatever became of the first. */
  recognise(ticket: string, ip: string): Principal | undefined;
}

export const TicketDesk = defineService<TicketDesk>('webshell.tickets');
