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
  children,
}: {
  readonly isHeld: boolean;
  /** What has to be given before anything can be done with it. */
  readonly lacks?: string | undefined;
  readonly className?: string;
  readonly onPress: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const lackId = useId();
  const isLacking = lacks !== undefined;
  return (
    <>
      <button
        type="button"
        className={className}
        aria-disabled={isHeld || isLacking || undefined}
        aria-describedby={isLacking ? lackId : undefined}
        onClick={() => {
          if (!isHeld && !isLacking) onPress();
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
