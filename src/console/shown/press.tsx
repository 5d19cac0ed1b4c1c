import { useId, type ReactNode } from 'react';

/**
 * A button that does nothing while it is held or something lacks, which is said beside it. It keeps its
 * place among what the tab key comes to: one that is disabled loses it, and the focus.
 */
export function Press({
  isHeld,
  lacks,
  className,
  onPress,
  onPointed,
  children,
}: {
  readonly isHeld: boolean;
  /** What has to be given before anything can be done with it. */
  readonly lacks?: string | undefined;
  readonly className?: string;
  readonly onPress: () => void;
  /** Somebody points at it, or has the focus there, and will probably press it. */
  readonly onPointed?: (() => void) | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const lackId = useId();
  const isLacking = lacks !== undefined;
  const isOff = isHeld || isLacking;
  const pointed = isOff ? undefined : onPointed;
  return (
    <>
      <button
        type="button"
        className={className}
        aria-disabled={isOff || undefined}
        aria-describedby={isLacking ? lackId : undefined}
        onFocus={pointed}
        onPointerEnter={pointed}
        onClick={() => {
          if (!isOff) onPress();
        }}
      >
        {children}
      </button>
      {isLacking ? (
        <span id={lackId} className="muted">
          {lacks}
        </span>
      ) : null}
    </>
  );
}
