int shared(void);
