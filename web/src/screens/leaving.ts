/**
 * What a user loses by leaving the page or signing out: changes without an answer or refused too late, open forms,
 * imports, and unsent comments.
 */
import { writeQueue } from '../edits/write-queue';
import type { UserDrafts } from '../project/comment-drafts';
import { mayDiscard, questionIn } from '../ui/unsaved';
import { words } from '../words';

export function wouldLose(drafts: UserDrafts): boolean {
  return writeQueue.unsent.peek() > 0 || !drafts.isEmpty || questionIn(document) !== null;
}

/** Whether the user may sign out: asks if something would be lost. */
export function maySignOut(drafts: UserDrafts): boolean {
  const unsent = writeQueue.unsent.peek();
  return !wouldLose(drafts) || mayDiscard(unsent > 0 ? words.unsaved.discardChanges(unsent) : (questionIn(document) ?? words.unsaved.discard));
}
